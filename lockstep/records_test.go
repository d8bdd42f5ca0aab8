package lockstep_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/lockstep"
)

// namedRecord is one record of the sample log.
type namedRecord struct {
	name  string
	bytes []byte
}

// sampleLog returns a log of the bank game with every kind of record in it. It
// is a real match: a follower agrees with all of its checksums.
func sampleLog(tb testing.TB) (*lockstep.Game, []namedRecord) {
	g, h := newBankMatch(tb, 2)
	h.Platform = "any"
	var enc lockstep.Encoder
	var log []namedRecord
	add := func(name string, b []byte) { log = append(log, namedRecord{name, bytes.Clone(b)}) }
	sim, err := g.NewSimulation(h)
	if err != nil {
		tb.Fatal(err)
	}
	add("header", enc.Header(h))
	add("keyframe", enc.Keyframe(0, sim.Root(), nil, sim.AppendState(nil)))
	frame := func(name string, commands ...lockstep.Command) {
		f := &lockstep.Frame{Tick: sim.Tick() + 1, Commands: commands}
		for i := range commands {
			commands[i].Tick = f.Tick
		}
		if err := sim.Step(f); err != nil {
			tb.Fatal(err)
		}
		add(name, enc.Frame(f))
	}
	payload := func(value any) []byte {
		_, b := encode(tb, g, value)
		return b
	}
	joined := func(seq lockstep.Sequence, p byte) lockstep.Command {
		return lockstep.Command{Player: lockstep.System, Sequence: seq, Kind: 1, Payload: []byte{0x91, p}}
	}
	frame("frame of system commands", joined(1, 0), joined(2, 1))
	add("note", enc.Note(1, "name", "Ann"))
	frame("frame", lockstep.Command{Player: 0, Sequence: 1, Kind: 1, Payload: payload(&earn{Coins: 500})},
		lockstep.Command{Player: 0, Sequence: 3, Kind: 2, Payload: payload(&give{To: 1, Coins: []uint16{1, 300}})},
		lockstep.Command{Player: 1, Sequence: 1, Kind: 1, Payload: payload(&earn{Coins: 5})})
	frame("empty")
	frame("empty")
	frame("frame", lockstep.Command{Player: 0, Sequence: 300, Kind: 1, Payload: payload(&earn{Coins: 1})})
	add("checksum", enc.Checksum(5, sim.Root()))
	add("dissent", enc.Dissent(5, 1, 0x1122334455667788))
	add("keyframe", enc.Keyframe(5, sim.Root(), enc.AppendLast(nil), sim.AppendState(nil)))
	add("end", enc.End("player 0 has won"))
	return g, log
}

func join(log []namedRecord) []byte {
	var b []byte
	for _, r := range log {
		b = append(b, r.bytes...)
	}
	return b
}

// The bytes of the records are the protocol. This file changes only together
// with the protocol's number.
func TestGoldenRecords(t *testing.T) {
	const file = "testdata/records.golden"
	_, log := sampleLog(t)
	var got strings.Builder
	for _, r := range log {
		fmt.Fprintf(&got, "%s\n", r.name)
		for line := range chunks(hex.EncodeToString(r.bytes), 96) {
			fmt.Fprintf(&got, "  %s\n", line)
		}
	}
	if script.Update() {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func chunks(s string, n int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			k := min(n, len(s))
			if !yield(s[:k]) {
				return
			}
			s = s[k:]
		}
	}
}

// checkMalleable decodes b as far as it goes, and fails unless every accepted
// record is written back the same. It returns how many there were.
func checkMalleable(t *testing.T, b []byte) (records int, err error) {
	var dec lockstep.Decoder
	var enc lockstep.Encoder
	for len(b) > 0 {
		r, rest, err := dec.Decode(b)
		if err != nil {
			return records, err
		}
		if again := enc.Record(r); again != nil && !bytes.Equal(again, b[:len(b)-len(rest)]) {
			t.Fatalf("record %d: read % x, written as % x", r.Kind, b[:len(b)-len(rest)], again)
		}
		records++
		b = rest
	}
	return records, nil
}

func TestRecordsRoundTrip(t *testing.T) {
	_, log := sampleLog(t)
	n, err := checkMalleable(t, join(log))
	if n != len(log) || err != nil {
		t.Errorf("got %d records, %v, want %d", n, err, len(log))
	}
}

func FuzzDecoder(f *testing.F) {
	_, log := sampleLog(f)
	f.Add(join(log))
	f.Add(join(log[:2]))
	f.Add(append(join(log[:3]), 0x92, 100, 0xc4, 2, 1, 2)) // unknown, optional
	f.Add([]byte("\xdd\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) { checkMalleable(t, b) })
}

// follow applies a log to a new follower, as far as it goes.
func follow(g *lockstep.Game, b []byte) (*lockstep.Follower, error) {
	f := g.NewFollower(lockstep.FollowerOptions{})
	var dec lockstep.Decoder
	var desync error
	for len(b) > 0 {
		r, rest, err := dec.Decode(b)
		if err == nil {
			err = f.Apply(r)
		}
		if d := (*lockstep.DesyncError)(nil); errors.As(err, &d) {
			desync = err
		} else if err != nil {
			return f, err
		}
		b = rest
	}
	return f, desync
}

// A log that is cut gives the states up to the last whole record, and then
// io.ErrUnexpectedEOF.
func TestCutAtEveryByte(t *testing.T) {
	g, log := sampleLog(t)
	all := join(log)
	whole := map[int]bool{} // ends of records
	end := 0
	for _, r := range log {
		end += len(r.bytes)
		whole[end] = true
	}
	tick := lockstep.Tick(0)
	for n := range all {
		f, err := follow(g, all[:n])
		if want := io.ErrUnexpectedEOF; n > 0 && whole[n] != (err == nil) || err != nil && !errors.Is(err, want) {
			t.Fatalf("the first %d of %d bytes: got %v", n, len(all), err)
		}
		if f.Tick() < tick {
			t.Fatalf("the first %d bytes give tick %d, fewer gave %d", n, f.Tick(), tick)
		}
		tick = f.Tick()
	}
}

// Every single bit that is wrong is an error, or it changes no state: it is in
// what concerns people (a name, a reason), in the evidence (whose checksum
// differed), in a parameter that the states are not made of again, or in the
// tick that the first keyframe says it is of, which this game's rules do not
// ask for. Records alone can promise no more; a file's framing finds these, too.
func TestEveryBitFlipped(t *testing.T) {
	g, log := sampleLog(t)
	all := join(log)
	good, err := follow(g, all)
	if err != nil || !good.Ended() || good.Checked() != 3 {
		t.Fatalf("the log itself: %v, %d compared", err, good.Checked())
	}
	harmless := 0
	for i := range all {
		for bit := range 8 {
			all[i] ^= 1 << bit
			if f, err := follow(g, all); err == nil {
				harmless++
				if f.Simulation().Root() != good.Simulation().Root() {
					t.Errorf("byte %d, bit %d: accepted, with another state at tick %d", i, bit, f.Tick())
				}
			}
			all[i] ^= 1 << bit
		}
	}
	t.Logf("%d of %d flips change no state", harmless, 8*len(all))
	if harmless > 2*len(all) {
		t.Errorf("%d of %d flips are accepted, which is more than texts and parameters have", harmless, 8*len(all))
	}
}

func TestOutOfPlace(t *testing.T) {
	_, log := sampleLog(t)
	header, keyframe, frame, note, end := log[0].bytes, log[1].bytes, log[2].bytes, log[3].bytes, log[len(log)-1].bytes
	start := join(log[:2])
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"a frame first":               {frame, lockstep.ErrOutOfPlace},
		"a keyframe first":            {keyframe, lockstep.ErrOutOfPlace},
		"two headers":                 {join(append(log[:1:1], log[0])), lockstep.ErrOutOfPlace},
		"a header later":              {append(start[:len(start):len(start)], header...), lockstep.ErrOutOfPlace},
		"a frame before the keyframe": {append(header[:len(header):len(header)], frame...), lockstep.ErrOutOfPlace},
		"a note before the keyframe":  {append(header[:len(header):len(header)], note...), lockstep.ErrOutOfPlace},
		"a frame after the end":       {join([]namedRecord{log[0], log[1], {bytes: end}, {bytes: frame}}), lockstep.ErrOutOfPlace},
		"an unknown critical record":  {append(start[:len(start):len(start)], 0x92, 63, 0xc4, 0), lockstep.ErrUnknownRecord},
		"kind 0":                      {append(start[:len(start):len(start)], 0x92, 0, 0xc4, 0), lockstep.ErrUnknownRecord},
		"an optional one of 3 values": {append(start[:len(start):len(start)], 0x93, 100, 0xc4, 0, 0), lockstep.ErrMalformed},
		"an optional one, unknown":    {append(start[:len(start):len(start)], 0x92, 100, 0xc4, 1, 9), nil},
		"kind 127":                    {append(start[:len(start):len(start)], 0x92, 127, 0xc4, 1, 9), nil},
		"kind 128":                    {append(start[:len(start):len(start)], 0x92, 0xcc, 128, 0xc4, 1, 9), nil},
		"kind 255":                    {append(start[:len(start):len(start)], 0x92, 0xcc, 255, 0xc4, 1, 9), nil},
		"kind 100 in two bytes":       {append(start[:len(start):len(start)], 0x92, 0xcc, 100, 0xc4, 1, 9), lockstep.ErrMalformed},
		"kind 256":                    {append(start[:len(start):len(start)], 0x92, 0xcd, 1, 0, 0xc4, 1, 9), lockstep.ErrMalformed},
		"an empty run of none":        {append(start[:len(start):len(start)], 0x92, 4, 0), lockstep.ErrMalformed},
		"an empty run too long":       {append(start[:len(start):len(start)], 0x92, 4, 0xce, 0, 1, 0, 1), lockstep.ErrMalformed},
		"a checksum of the future":    {append(start[:len(start):len(start)], 0x93, 5, 1, 1), lockstep.ErrMalformed},
		"a later keyframe":            {append(start[:len(start):len(start)], 0x95, 2, 1, 1, 0x90, 0xc4, 0), lockstep.ErrOutOfPlace},
		"players not in order":        {append(header[:len(header):len(header)], 0x95, 2, 0, 1, 0x94, 1, 1, 0, 1, 0xc4, 0), lockstep.ErrMalformed},
		"a player twice":              {append(header[:len(header):len(header)], 0x95, 2, 0, 1, 0x94, 1, 1, 1, 1, 0xc4, 0), lockstep.ErrMalformed},
		"player 250":                  {append(header[:len(header):len(header)], 0x95, 2, 0, 1, 0x92, 0xcc, 250, 1, 0xc4, 0), lockstep.ErrMalformed},
		"half a pair":                 {append(header[:len(header):len(header)], 0x95, 2, 0, 1, 0x91, 0, 0xc4, 0), lockstep.ErrMalformed},
		"commands not in order":       {append(start[:len(start):len(start)], 0x99, 3, 1, 1, 1, 0xc4, 0, 0, 1, 1, 0xc4, 0), lockstep.ErrMalformed},
		"a command of sequence 0":     {append(start[:len(start):len(start)], 0x95, 3, 1, 0, 1, 0xc4, 0), lockstep.ErrMalformed},
		"a dissent of System":         {append(start[:len(start):len(start)], 0x94, 6, 0, 0xcc, 255, 1), lockstep.ErrMalformed},
		"other sequences":             {append(start[:len(start):len(start)], 0x95, 2, 0, 1, 0x92, 0, 1, 0xc4, 0), lockstep.ErrOutOfPlace},
	} {
		_, err := checkMalleable(t, c.b)
		if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// Lengths that lie cost no memory.
func TestHostileLengths(t *testing.T) {
	_, log := sampleLog(t)
	start := join(log[:2])
	after := func(tail string) []byte { return append(start[:len(start):len(start)], tail...) }
	for name, b := range map[string][]byte{
		"an array of 2^32-1":            []byte("\xdd\xff\xff\xff\xff"),
		"a frame of 2^32-1 values":      after("\xdd\xff\xff\xff\xff\x03"),
		"a payload of 2^32-1 bytes":     after("\x95\x03\x00\x01\x01\xc6\xff\xff\xff\xff"),
		"a payload of 2^31 bytes":       after("\x95\x03\x00\x01\x01\xc6\x80\x00\x00\x00"),
		"a keyframe of 2^28 bytes":      after("\x95\x02\x00\x01\x90\xc6\x10\x00\x00\x00"),
		"an optional of 2^31-1 bytes":   after("\x92\x64\xc6\x7f\xff\xff\xff"),
		"a name of 2^32-1 bytes":        []byte("\x9c\x01\x01\xdb\xff\xff\xff\xff"),
		"a million nested arrays":       bytes.Repeat([]byte{0x91}, 1<<20),
		"a frame of a million arrays":   after("\x95\x03" + strings.Repeat("\x91", 1<<20)),
		"65535 descriptions of nothing": append(log[0].bytes[:100:100], "\xdc\xff\xff"...),
	} {
		var before, later runtime.MemStats
		runtime.ReadMemStats(&before)
		var dec lockstep.Decoder
		var err error
		for rest := b; len(rest) > 0 && err == nil; {
			_, rest, err = dec.Decode(rest)
		}
		runtime.ReadMemStats(&later)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		if cost := later.TotalAlloc - before.TotalAlloc; cost > 64<<10 {
			t.Errorf("%s: cost %d bytes of memory", name, cost)
		}
	}
}

// What an Encoder cannot write so that it is read back panics: it is a bug of
// its caller.
func TestEncoderPanics(t *testing.T) {
	command := func(p lockstep.Player, s lockstep.Sequence) lockstep.Command {
		return lockstep.Command{Tick: 1, Player: p, Sequence: s, Kind: 1}
	}
	_, h := newBankMatch(t, 2)
	for name, f := range map[string]func(e *lockstep.Encoder){
		"a second header":   func(e *lockstep.Encoder) { e.Header(h) },
		"a frame left out":  func(e *lockstep.Encoder) { e.Frame(&lockstep.Frame{Tick: 2}) },
		"a run of no ticks": func(e *lockstep.Encoder) { e.Empty(0) },
		"a run too long":    func(e *lockstep.Encoder) { e.Empty(lockstep.MaxEmptyRun + 1) },
		"the future":        func(e *lockstep.Encoder) { e.Checksum(1, 0) },
		"sequence 0": func(e *lockstep.Encoder) {
			e.Frame(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{command(1, 0)}})
		},
		"a sequence repeated": func(e *lockstep.Encoder) {
			e.Frame(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{command(1, 1), command(1, 1)}})
		},
		"another order": func(e *lockstep.Encoder) {
			e.Frame(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{command(1, 1), command(0, 1)}})
		},
		"after the end": func(e *lockstep.Encoder) { e.End(""); e.Empty(1) },
	} {
		var e lockstep.Encoder
		e.Header(h)
		e.Keyframe(0, 0, nil, nil)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: did not panic", name)
				}
			}()
			f(&e)
		}()
	}
}

// A stream can stand at any tick, up to the last.
func TestLastTick(t *testing.T) {
	g, h := newBankMatch(t, 2)
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	var e lockstep.Encoder
	b := bytes.Clone(e.Header(h))
	b = append(b, e.Keyframe(math.MaxUint32-1, 0, []lockstep.LastSequence{{Player: 1, Sequence: math.MaxUint32}}, sim.AppendState(nil))...)
	b = append(b, e.Empty(1)...)
	if _, err := checkMalleable(t, b); err != nil {
		t.Error(err)
	}
	for name, record := range map[string][]byte{"a run of empty ticks": {0x92, 4, 1}, "a frame": {0x95, 3, 0, 1, 1, 0xc4, 0}} {
		if _, err := checkMalleable(t, append(b[:len(b):len(b)], record...)); !errors.Is(err, lockstep.ErrOutOfPlace) {
			t.Errorf("%s beyond the last tick: got %v", name, err)
		}
	}
	b = b[:len(b)-3]
	if _, err := checkMalleable(t, append(b, 0x95, 3, 1, 1, 1, 0xc4, 0)); !errors.Is(err, lockstep.ErrMalformed) {
		t.Errorf("a sequence beyond the last: got %v", err)
	}
}

// The kind stands in one byte up to 127, and in two from 128 on.
func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		record []byte
		want   lockstep.RecordKind
	}{
		{[]byte{0x92, 4, 1}, lockstep.RecordEmpty},
		{[]byte{0x92, 127, 0xc4, 0}, 127},
		{[]byte{0x92, 0xcc, 128, 0xc4, 0}, 128},
		{[]byte{0x92, 0xcc, 255, 0xc4, 0}, 255},
		{[]byte{0xdc, 0, 17, 3}, lockstep.RecordFrame},
		{[]byte{0xdd, 0, 1, 0, 1, 3}, lockstep.RecordFrame},
	} {
		if got := lockstep.KindOf(c.record); got != c.want {
			t.Errorf("% x: got kind %d, want %d", c.record, got, c.want)
		}
	}
}

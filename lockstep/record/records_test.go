package record_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/script"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

func join(log []testgame.NamedRecord) []byte {
	var b []byte
	for _, r := range log {
		b = append(b, r.Bytes...)
	}
	return b
}

// The bytes of the records are part of the protocol. This file changes only together with the protocol's number.
func TestGoldenRecords(t *testing.T) {
	const file = "testdata/records.golden"
	_, log := testgame.SampleLog(t)
	var got strings.Builder
	for _, r := range log {
		fmt.Fprintf(&got, "%s\n", r.Name)
		for line := range chunks(hex.EncodeToString(r.Bytes), 96) {
			fmt.Fprintf(&got, "  %s\n", line)
		}
	}
	if script.Rewrite() {
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

// checkMalleable decodes b as far as possible, and fails unless every accepted record is written back the same. It
// returns the number of records.
func checkMalleable(t *testing.T, b []byte) (records int, err error) {
	var dec record.Decoder
	var enc record.Encoder
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
	_, log := testgame.SampleLog(t)
	n, err := checkMalleable(t, join(log))
	if n != len(log) || err != nil {
		t.Errorf("got %d records, %v, want %d", n, err, len(log))
	}
}

func FuzzDecoder(f *testing.F) {
	_, log := testgame.SampleLog(f)
	f.Add(join(log))
	f.Add(join(log[:2]))
	f.Add(append(join(log[:3]), 0x92, 100, 0xc4, 2, 1, 2)) // unknown, optional
	f.Add([]byte("\xdd\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) { checkMalleable(t, b) })
}

// follow applies a log to a new follower as far as possible.
func follow(g *lockstep.Game, b []byte) (*lockstep.Follower, error) {
	f := g.NewFollower(lockstep.FollowerOptions{})
	var dec record.Decoder
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

// A truncated log gives the states up to the last whole record, and then io.ErrUnexpectedEOF.
func TestCutAtEveryByte(t *testing.T) {
	g, log := testgame.SampleLog(t)
	all := join(log)
	whole := map[int]bool{} // ends of records
	end := 0
	for _, r := range log {
		end += len(r.Bytes)
		whole[end] = true
	}
	tick := record.Tick(0)
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

// Every inverted bit is an error or changes no state. The harmless bits are in texts for people (a name, a reason), in
// evidence (the player of a mismatch), in a parameter that does not affect the states, and in the tick of the first
// keyframe, which this game's rules do not use. Records alone can promise no more; a file's framing detects these, too.
func TestEveryBitFlipped(t *testing.T) {
	g, log := testgame.SampleLog(t)
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
				if f.Simulation().Hash() != good.Simulation().Hash() {
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
	_, log := testgame.SampleLog(t)
	header, keyframe, frame, note, end := log[0].Bytes, log[1].Bytes, log[2].Bytes, log[3].Bytes, log[len(log)-1].Bytes
	start := join(log[:2])
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"a frame first":               {frame, record.ErrOutOfPlace},
		"a keyframe first":            {keyframe, record.ErrOutOfPlace},
		"two headers":                 {join(append(log[:1:1], log[0])), record.ErrOutOfPlace},
		"a header later":              {append(start[:len(start):len(start)], header...), record.ErrOutOfPlace},
		"a frame before the keyframe": {append(header[:len(header):len(header)], frame...), record.ErrOutOfPlace},
		"a note before the keyframe":  {append(header[:len(header):len(header)], note...), record.ErrOutOfPlace},
		"a frame after the end":       {join([]testgame.NamedRecord{log[0], log[1], {Bytes: end}, {Bytes: frame}}), record.ErrOutOfPlace},
		"an unknown critical record":  {append(start[:len(start):len(start)], 0x92, 63, 0xc4, 0), record.ErrUnknownRecord},
		"of any number of values":     {append(start[:len(start):len(start)], 0x91, 8), record.ErrUnknownRecord},
		"a header of protocol 2":      {[]byte{0x92, 1, 2}, record.ErrUnknownRecord},
		"a frame without commands":    {append(start[:len(start):len(start)], 0x91, 3), record.ErrMalformed},
		"kind 0":                      {append(start[:len(start):len(start)], 0x92, 0, 0xc4, 0), record.ErrUnknownRecord},
		"an optional one of 3 values": {append(start[:len(start):len(start)], 0x93, 100, 0xc4, 0, 0), record.ErrMalformed},
		"an optional one, unknown":    {append(start[:len(start):len(start)], 0x92, 100, 0xc4, 1, 9), nil},
		"kind 127":                    {append(start[:len(start):len(start)], 0x92, 127, 0xc4, 1, 9), nil},
		"kind 128":                    {append(start[:len(start):len(start)], 0x92, 0xcc, 128, 0xc4, 1, 9), nil},
		"kind 255":                    {append(start[:len(start):len(start)], 0x92, 0xcc, 255, 0xc4, 1, 9), nil},
		"kind 100 in two bytes":       {append(start[:len(start):len(start)], 0x92, 0xcc, 100, 0xc4, 1, 9), record.ErrMalformed},
		"kind 256":                    {append(start[:len(start):len(start)], 0x92, 0xcd, 1, 0, 0xc4, 1, 9), record.ErrMalformed},
		"an empty run of none":        {append(start[:len(start):len(start)], 0x92, 4, 0), record.ErrMalformed},
		"an empty run too long":       {append(start[:len(start):len(start)], 0x92, 4, 0xce, 0, 1, 0, 1), record.ErrMalformed},
		"a checksum of the future":    {append(start[:len(start):len(start)], 0x93, 5, 1, 1), record.ErrMalformed},
		"a later keyframe":            {append(start[:len(start):len(start)], 0x95, 2, 1, 1, 0x90, 0xc4, 0), record.ErrOutOfPlace},
		"players not in order":        {append(header[:len(header):len(header)], 0x95, 2, 0, 1, 0x94, 1, 1, 0, 1, 0xc4, 0), record.ErrMalformed},
		"a player twice":              {append(header[:len(header):len(header)], 0x95, 2, 0, 1, 0x94, 1, 1, 1, 1, 0xc4, 0), record.ErrMalformed},
		"player 250":                  {append(header[:len(header):len(header)], 0x95, 2, 0, 1, 0x92, 0xcc, 250, 1, 0xc4, 0), record.ErrMalformed},
		"half a pair":                 {append(header[:len(header):len(header)], 0x95, 2, 0, 1, 0x91, 0, 0xc4, 0), record.ErrMalformed},
		"commands not in order":       {append(start[:len(start):len(start)], 0x99, 3, 1, 1, 1, 0xc4, 0, 0, 1, 1, 0xc4, 0), record.ErrMalformed},
		"a command of sequence 0":     {append(start[:len(start):len(start)], 0x95, 3, 1, 0, 1, 0xc4, 0), record.ErrMalformed},
		"a mismatch of System":        {append(start[:len(start):len(start)], 0x94, 6, 0, 0xcc, 255, 1), record.ErrMalformed},
		"other sequences":             {append(start[:len(start):len(start)], 0x95, 2, 0, 1, 0x92, 0, 1, 0xc4, 0), record.ErrOutOfPlace},
	} {
		_, err := checkMalleable(t, c.b)
		if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// False lengths cost no memory.
func TestHostileLengths(t *testing.T) {
	_, log := testgame.SampleLog(t)
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
		"65535 descriptions of nothing": append(log[0].Bytes[:100:100], "\xdc\xff\xff"...),
	} {
		var before, later runtime.MemStats
		runtime.ReadMemStats(&before)
		var dec record.Decoder
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

// An Encoder panics on a record that a Decoder would reject, because that is a bug of the caller.
func TestEncoderPanics(t *testing.T) {
	command := func(p record.Player, s record.Sequence) record.Command {
		return record.Command{Tick: 1, Player: p, Sequence: s, Kind: 1}
	}
	_, h := testgame.NewBankMatch(t, 2)
	for name, f := range map[string]func(e *record.Encoder){
		"a second header":   func(e *record.Encoder) { e.Header(h) },
		"a frame left out":  func(e *record.Encoder) { e.Frame(&record.Frame{Tick: 2}) },
		"a run of no ticks": func(e *record.Encoder) { e.Empty(0) },
		"a run too long":    func(e *record.Encoder) { e.Empty(record.MaxEmptyRun + 1) },
		"the future":        func(e *record.Encoder) { e.Checksum(1, 0) },
		"sequence 0": func(e *record.Encoder) {
			e.Frame(&record.Frame{Tick: 1, Commands: []record.Command{command(1, 0)}})
		},
		"a sequence repeated": func(e *record.Encoder) {
			e.Frame(&record.Frame{Tick: 1, Commands: []record.Command{command(1, 1), command(1, 1)}})
		},
		"another order": func(e *record.Encoder) {
			e.Frame(&record.Frame{Tick: 1, Commands: []record.Command{command(1, 1), command(0, 1)}})
		},
		"after the end": func(e *record.Encoder) { e.End(""); e.Empty(1) },
	} {
		var e record.Encoder
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

// A stream can begin at any tick, up to the last.
func TestLastTick(t *testing.T) {
	g, h := testgame.NewBankMatch(t, 2)
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	var e record.Encoder
	b := bytes.Clone(e.Header(h))
	b = append(b, e.Keyframe(math.MaxUint32-1, 0, []record.LastSequence{{Player: 1, Sequence: math.MaxUint32}}, sim.AppendState(nil))...)
	b = append(b, e.Empty(1)...)
	if _, err := checkMalleable(t, b); err != nil {
		t.Error(err)
	}
	for name, raw := range map[string][]byte{"a run of empty ticks": {0x92, 4, 1}, "a frame": {0x95, 3, 0, 1, 1, 0xc4, 0}} {
		if _, err := checkMalleable(t, append(b[:len(b):len(b)], raw...)); !errors.Is(err, record.ErrOutOfPlace) {
			t.Errorf("%s beyond the last tick: got %v", name, err)
		}
	}
	b = b[:len(b)-3]
	if _, err := checkMalleable(t, append(b, 0x95, 3, 1, 1, 1, 0xc4, 0)); !errors.Is(err, record.ErrMalformed) {
		t.Errorf("a sequence beyond the last: got %v", err)
	}
}

// A kind takes one byte up to 127, and two from 128 on.
func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		record []byte
		want   record.Kind
	}{
		{[]byte{0x92, 4, 1}, record.KindEmpty},
		{[]byte{0x92, 127, 0xc4, 0}, 127},
		{[]byte{0x92, 0xcc, 128, 0xc4, 0}, 128},
		{[]byte{0x92, 0xcc, 255, 0xc4, 0}, 255},
		{[]byte{0xdc, 0, 17, 3}, record.KindFrame},
		{[]byte{0xdd, 0, 1, 0, 1, 3}, record.KindFrame},
	} {
		if got := record.KindOf(c.record); got != c.want {
			t.Errorf("% x: got kind %d, want %d", c.record, got, c.want)
		}
	}
}

// fewRecords returns a frame at tick 4, a run of ticks 5 to 7, and records without ticks.
func fewRecords() []*record.Record {
	return []*record.Record{
		{Kind: record.KindKeyframe, Tick: 3},
		{Kind: record.KindFrame, Tick: 4, Frame: record.Frame{Tick: 4, Commands: make([]record.Command, 2)}},
		{Kind: record.KindEmpty, Tick: 7, Empty: 3},
		{Kind: record.KindChecksum, Tick: 6},
		{Kind: record.KindEmpty, Tick: record.MaxEmptyRun, Empty: record.MaxEmptyRun}, // from tick 1 on
		{Kind: record.KindEnd, Tick: 7},
	}
}

func TestFramesGiveEachTick(t *testing.T) {
	for i, want := range [][]record.Tick{{}, {4}, {5, 6, 7}, {}, nil, {}} {
		r := fewRecords()[i]
		if r.Kind.Advances() != (r.Ticks() > 0) {
			t.Errorf("kind %d: got Advances %v and %d ticks", r.Kind, r.Kind.Advances(), r.Ticks())
		}
		got := []record.Tick{}
		for f := range r.Frames() {
			if len(f.Commands) != len(r.Frame.Commands) {
				t.Errorf("tick %d: got %d commands, want %d", f.Tick, len(f.Commands), len(r.Frame.Commands))
			}
			got = append(got, f.Tick)
		}
		if want == nil { // the longest run
			if len(got) != record.MaxEmptyRun || got[0] != 1 || !slices.IsSorted(got) {
				t.Errorf("got %d ticks from %d on, want %d from 1 on", len(got), got[0], record.MaxEmptyRun)
			}
		} else if !slices.Equal(got, want) || int(r.Ticks()) != len(want) {
			t.Errorf("kind %d: got ticks %v of %d, want %v", r.Kind, got, r.Ticks(), want)
		}
	}
}

func TestFrameAfterGoesOnInsideARun(t *testing.T) {
	run := fewRecords()[2]
	for tick, want := range map[record.Tick]record.Tick{0: 5, 4: 5, 5: 6, 6: 7, 7: 0, 8: 0, record.MaxTick: 0} { // 0: none
		if f := run.FrameAfter(tick); (f != nil) != (want > 0) || f != nil && f.Tick != want {
			t.Errorf("after tick %d: got %+v, want tick %d", tick, f, want)
		}
	}
	for range run.Frames() {
		break // and the next walk is whole again
	}
	n := 0
	for range run.Frames() {
		n++
	}
	if n != 3 {
		t.Errorf("got %d ticks after a walk that stopped, want 3", n)
	}
}

func TestAllEndsWithTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	for _, end := range []error{io.EOF, broken, io.ErrUnexpectedEOF} {
		left := fewRecords()
		next := func() (*record.Record, error) {
			if len(left) == 0 {
				return nil, end
			}
			r := left[0]
			left = left[1:]
			return r, nil
		}
		n, last := 0, error(nil)
		for r, err := range record.All(next) {
			if last = err; err == nil && r != nil {
				n++
			}
		}
		if n != len(fewRecords()) || last != end && (last != nil || end != io.EOF) {
			t.Errorf("%v: got %d records and %v, want %d", end, n, last, len(fewRecords()))
		}
		left = fewRecords()
		for range record.All(next) {
			break
		}
		if len(left) != len(fewRecords())-1 {
			t.Errorf("%v: %d records are left after one, want %d", end, len(left), len(fewRecords())-1)
		}
	}
}

func TestWalkingALogAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a build without inlining allocates the iterators")
	}
	records, i, ticks := fewRecords(), 0, 0
	next := func() (*record.Record, error) {
		if i == len(records) {
			return nil, io.EOF
		}
		i++
		return records[i-1], nil
	}
	if n := testing.AllocsPerRun(10, func() {
		i = 0
		for r, err := range record.All(next) {
			if err != nil {
				t.Fatal(err)
			}
			for f := range r.Frames() {
				ticks += int(f.Tick) & 1
			}
		}
	}); n > 0 {
		t.Errorf("got %.1f allocations, want none", n)
	}
}

// The frame of tick 1 has more commands than others in a match of another engine, and only there.
func TestLobbyCommands(t *testing.T) {
	for name, c := range map[string]struct {
		engine   string
		tick     record.Tick
		commands int
		read     bool
	}{
		"another engine's lobby":      {"foreign", 1, record.MaxFrameCommands + 1, true},
		"another engine's later tick": {"foreign", 2, record.MaxFrameCommands + 1, false},
		"ours":                        {record.Engine, 1, record.MaxFrameCommands + 1, false},
		"ours, at most":               {record.Engine, 1, record.MaxFrameCommands, true},
	} {
		g, h := testgame.NewBankMatch(t, 2)
		own := *h
		own.Engine = c.engine
		sim, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		var e record.Encoder
		log := append([]byte{}, e.Header(&own)...)
		log = append(log, e.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil))...)
		if c.tick > 1 {
			log = append(log, e.Empty(uint32(c.tick-1))...)
		}
		f := record.Frame{Tick: c.tick}
		kind, payload := testgame.Encode(t, g, &testgame.Earn{Coins: 1})
		for i := range c.commands {
			f.Commands = append(f.Commands, record.Command{Tick: c.tick, Player: 1, Sequence: record.Sequence(i + 1), Kind: kind, Payload: payload})
		}
		log = append(log, e.Frame(&f)...)
		var d record.Decoder
		for len(log) > 0 && err == nil {
			_, log, err = d.Decode(log)
		}
		if read := err == nil; read != c.read || !read && !errors.Is(err, record.ErrMalformed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

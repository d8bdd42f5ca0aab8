package replay_test

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A realMatch is a match of ten people in another game, converted to records of our log.
type realMatch struct {
	records  [][]byte
	commands []lockstep.Command // in the order of the log, without System's
	data     int                // bytes of the commands' own data
}

// Append keeps a copy of a record.
func (m *realMatch) Append(record []byte) error {
	m.records = append(m.records, bytes.Clone(record))
	return nil
}

// loadRealMatch plays the excerpt in testdata, or the whole match that the environment names, through a coordinator.
func loadRealMatch(tb testing.TB) *realMatch {
	tb.Helper()
	name := "../testdata/matches/scfa-8604509-10-players-cut.jsonl.gz"
	if whole := os.Getenv("SAMESTEP_TEN_PLAYERS"); whole != "" {
		name = whole
	}
	in, err := testgame.LoadRecorded(name)
	if err != nil {
		tb.Fatal(err)
	}
	g := nullgame.New()
	s := lockstep.DefaultSettings(in.Header.Players)
	s.TickMicros, s.CheckEvery, s.KeyframeEvery = in.Header.TickMicros, 50, 0
	h, err := g.NewHeader(lockstep.MatchID{9}, s, &nullgame.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	m := &realMatch{}
	c, err := coordinator.New(g, h, m, coordinator.Options{MaxPerTick: 512})
	if err != nil {
		tb.Fatal(err)
	}
	for p := range lockstep.Player(in.Header.Players) {
		if _, err := c.Join(p); err != nil {
			tb.Fatal(err)
		}
	}
	tick := func() {
		f, err := c.Tick()
		if err != nil {
			tb.Fatal(err)
		}
		for _, command := range f.Commands {
			if command.Player != lockstep.System {
				command.Payload = bytes.Clone(command.Payload)
				m.commands = append(m.commands, command)
			}
		}
	}
	tick() // the players join in it
	payloads := g.NewPayloads()
	for _, e := range in.Entries {
		if e.Checksum {
			continue
		}
		for c.Now() < lockstep.Tick(e.Tick)+1 {
			tick()
		}
		payload, err := payloads.EncodeAs(lockstep.Kind(e.Kind), &nullgame.Opaque{Data: e.Payload})
		if err != nil {
			tb.Fatal(err)
		}
		m.data += len(e.Payload)
		if err := c.Submit(lockstep.Player(e.Player), lockstep.Sequence(e.Sequence), lockstep.Kind(e.Kind), payload).Err(); err != nil {
			tb.Fatal(err)
		}
	}
	for c.Now() < lockstep.Tick(in.Ticks)+2 {
		tick()
	}
	if err := c.End("cut"); err != nil {
		tb.Fatal(err)
	}
	return m
}

// write writes the records as a replay file.
func (m *realMatch) write(tb testing.TB, to io.Writer) {
	w := replay.NewWriter(to, replay.WriterOptions{})
	for _, record := range m.records {
		if err := w.Append(record); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
}

// A match of ten people survives the round trip through a file, at a few bytes for each command.
func TestRealMatch(t *testing.T) {
	m := loadRealMatch(t)
	var file bytes.Buffer
	m.write(t, &file)
	var got []lockstep.Command
	err := replay.Play(open(t, file.Bytes()), nullgame.New().NewFollower(lockstep.FollowerOptions{}), func(r *record.Record) error {
		for _, c := range r.Frame.Commands {
			if c.Player != lockstep.System {
				c.Payload = bytes.Clone(c.Payload)
				got = append(got, c)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) < 4000 || !slices.EqualFunc(got, m.commands, func(a, b lockstep.Command) bool {
		return record.Compare(&a, &b) == 0 && a.Kind == b.Kind && bytes.Equal(a.Payload, b.Payload)
	}) {
		t.Errorf("%d commands came back, want the %d that were given", len(got), len(m.commands))
	}
	info, err := replay.ReadInfo(open(t, file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	extra := float64(file.Len()-m.data) / float64(len(m.commands))
	t.Logf("%d commands with %d bytes of data in %d ticks: a file of %d bytes, %.2f more on each command", len(m.commands), m.data, info.Ticks, file.Len(), extra)
	if extra > 16 {
		t.Errorf("the file takes %.2f bytes more for each command than its data, want at most 16", extra)
	}
}

// BenchmarkRealMatch compares the cost of the file with other uses of the same records:
//
//	go test ./replay -run xxx -bench RealMatch -count 5
func BenchmarkRealMatch(b *testing.B) {
	m := loadRealMatch(b)
	var file bytes.Buffer
	m.write(b, &file)
	turns := func(name string, first, second func(), unit string) {
		b.Run(name, func(b *testing.B) {
			var ratios []float64
			for b.Loop() {
				start := time.Now()
				first()
				middle := time.Now()
				second()
				ratios = append(ratios, float64(middle.Sub(start))/float64(max(1, time.Since(middle))))
			}
			slices.Sort(ratios)
			b.ReportMetric(0, "ns/op") // of both together
			b.ReportMetric(ratios[len(ratios)/2], unit)
		})
	}
	read := func() {
		if _, err := replay.ReadInfo(open(b, file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
	decode := func() {
		var d record.Decoder
		for _, record := range m.records {
			if _, _, err := d.Decode(record); err != nil {
				b.Fatal(err)
			}
		}
	}
	var buf bytes.Buffer
	write := func() { buf.Reset(); m.write(b, &buf) }
	turns("write", write, func() {
		buf.Reset()
		e := json.NewEncoder(&buf)
		for i := range m.commands {
			if err := e.Encode(&m.commands[i]); err != nil {
				b.Fatal(err)
			}
		}
	}, "x/json")
	turns("read", read, decode, "x/decoding-records")
	b.Run("size", func(b *testing.B) {
		var deflated bytes.Buffer
		for b.Loop() {
			deflated.Reset()
			z, err := flate.NewWriter(&deflated, flate.DefaultCompression)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := z.Write(file.Bytes()); err != nil {
				b.Fatal(err)
			}
			if err := z.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(file.Len()), "bytes")
		b.ReportMetric(float64(file.Len())/float64(m.data), "x/data")
		b.ReportMetric(float64(deflated.Len()), "deflated-bytes")
		b.ReportMetric(float64(file.Len()-m.data)/float64(len(m.commands)), "extra-bytes/command")
	})
}

package desync_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

func compare(tb testing.TB, a, b []byte) *desync.Comparison {
	tb.Helper()
	c, err := desync.Compare(openReplay(tb, a), openReplay(tb, b))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestCompareHeaders(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	other := rewrite(t, file, func(r *record.Record) {
		if r.Kind == record.KindHeader {
			h := r.Header
			h.Platform, h.Build, h.Settings.Seed = "other", "2", 9
			h.Config = []byte{9, 0}
			h.StateSchema = bytes.Replace(h.StateSchema, []byte("Step"), []byte("Pace"), 1)
			h.Commands[0].Name = "run"
		}
	})
	c := compare(t, file, other)
	want := []string{
		"build: 1 → 2", "platform: test → other", "setting seed: 1 → 9", "configuration Count: 4 → 9",
		"state schema, field Dots[].Pace: Step struct → Pace struct", `command: 1 "walk" → 1 "run"`,
	}
	if len(c.Header) != len(want) {
		t.Fatalf("got %v, want %q", c.Header, want)
	}
	for i, d := range c.Header {
		if d.String() != want[i] {
			t.Errorf("got %q, want %q", d, want[i])
		}
	}
	if c.Same() || c.Frame != nil || c.Checksum != nil {
		t.Errorf("got %+v, want a difference of the headers alone", c)
	}
	platform := rewrite(t, file, func(r *record.Record) {
		if r.Kind == record.KindHeader {
			r.Header.Platform = "other"
		}
	})
	if !compare(t, file, platform).Same() {
		t.Error("another platform makes another match")
	}
}

func TestCompareFrames(t *testing.T) {
	settings := lockstep.DefaultSettings(2)
	settings.KeyframeEvery = 0 // a keyframe knows the sequences
	_, file := recordDots(t, 100, settings)
	drop := func(from lockstep.Tick) ([]byte, lockstep.Tick) {
		var tick lockstep.Tick
		return rewrite(t, file, func(r *record.Record) {
			if r.Kind == record.KindFrame && r.Tick >= from && tick == 0 {
				tick = r.Tick
				r.Frame.Commands = r.Frame.Commands[:0]
			}
		}), tick
	}
	for _, from := range []lockstep.Tick{1, 50, 93} {
		dropped, tick := drop(from)
		c := compare(t, file, dropped)
		if c.Frame == nil || c.Frame.Tick != tick || len(c.Frame.A) == 0 || len(c.Frame.B) != 0 {
			t.Errorf("without the commands of tick %d: got %+v", tick, c.Frame)
		}
		c = compare(t, dropped, file)
		if c.Frame == nil || c.Frame.Tick != tick || len(c.Frame.A) != 0 || len(c.Frame.B) == 0 {
			t.Errorf("the other way around: got %+v", c.Frame)
		}
	}
	other, tick := edited(t, file, 30)
	c := compare(t, file, other)
	if c.Frame == nil || c.Frame.Tick != tick || len(c.Frame.A) != 1 || bytes.Equal(c.Frame.A[0].Payload, c.Frame.B[0].Payload) {
		t.Errorf("with another command in tick %d: got %+v", tick, c.Frame)
	}
}

// A shorter match is the same up to its end.
func TestCompareShorter(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	for tick := range lockstep.Tick(100) {
		var cut bytes.Buffer
		if err := replay.Cut(replay.NewWriter(&cut, replay.WriterOptions{}), openReplay(t, file), tick); err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2][]byte{{file, cut.Bytes()}, {cut.Bytes(), file}} {
			if c := compare(t, pair[0], pair[1]); !c.Same() || min(c.A.Ticks, c.B.Ticks) != tick || max(c.A.Ticks, c.B.Ticks) != 100 {
				t.Errorf("cut after tick %d: got %+v", tick, c)
			}
		}
	}
}

// The readable part of a torn file is compared, and the error says which file is torn.
func TestCompareDamaged(t *testing.T) {
	_, file, _ := recordMatch(t, 100, replay.WriterOptions{FlushTicks: 10})
	c, err := desync.Compare(openReplay(t, file), openReplay(t, file[:len(file)-200]))
	if !errors.Is(err, io.ErrUnexpectedEOF) || c == nil || !c.Same() || c.B.Ticks < 50 || c.B.Ended {
		t.Errorf("got %+v, error %v, want the same up to the tear", c, err)
	}
	if want := "second file: "; err == nil || err.Error()[:len(want)] != want {
		t.Errorf("got error %v, want which one it is", err)
	}
}

// lengthen returns a replay with four thousand million more ticks and then a checksum.
func lengthen(tb testing.TB, file []byte, hash uint64) []byte {
	tb.Helper()
	return copyRecords(tb, file, func(r *record.Record, emit func(*record.Record) error) error {
		if r.Kind != record.KindEnd {
			return emit(r)
		}
		for range 61_000 {
			if err := emit(&record.Record{Kind: record.KindEmpty, Empty: record.MaxEmptyRun}); err != nil {
				return err
			}
			r.Tick += record.MaxEmptyRun
		}
		if err := emit(&record.Record{Kind: record.KindChecksum, Tick: r.Tick, Hash: hash}); err != nil {
			return err
		}
		return emit(r)
	})
}

// Comparing billions of empty ticks is cheap, because they are not simulated.
func TestCompareLong(t *testing.T) {
	g, file, _ := recordMatch(t, 100, replay.WriterOptions{})
	const last = 100 + 61_000*record.MaxEmptyRun
	long := lengthen(t, file, 1)
	if c := compare(t, file, long); !c.Same() || c.B.Ticks != last {
		t.Errorf("got %+v, want the same for 100 ticks", c)
	}
	if _, err := replay.StateAt(openReplay(t, long), g, last, replay.SimulateOptions{}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("StateAt: got error %v, want %v", err, replay.ErrLimit)
	}
	if _, err := replay.StateAt(openReplay(t, long), g, last+1, replay.SimulateOptions{}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("StateAt after the end: got error %v, want %v", err, replay.ErrLimit)
	}
	_, err := desync.BisectReports(openReplay(t, long), []desync.Report{{Tick: last - 5, Hash: 1}}, g, desync.BisectOptions{})
	if !errors.Is(err, replay.ErrLimit) {
		t.Errorf("BisectReports: got error %v, want %v", err, replay.ErrLimit)
	}
	if _, err = desync.Bisect(openReplay(t, long), openReplay(t, lengthen(t, file, 2)), g, desync.BisectOptions{}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("Bisect: got error %v, want %v", err, replay.ErrLimit)
	}
	other := retell(t, file, hurt(t, 35, xor(t, "Dots[1].Pos.X", 3)))
	found, err := desync.Bisect(openReplay(t, long), openReplay(t, lengthen(t, other, 2)), g, desync.BisectOptions{})
	if err != nil || found.Tick != 40 {
		t.Errorf("Bisect near the beginning: got %+v, error %v, want tick 40", found, err)
	}
}

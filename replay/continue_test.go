package replay_test

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// Wherever a file is cut, the match continues in a new file that has all remaining ticks and verifies to its new end.
func TestContinue(t *testing.T) {
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 10, 20
	g, h := newDots(t, s)
	f := &faultyFile{}
	if _, err := playOn(t, g, h, replay.NewWriter(f, replay.WriterOptions{FlushTicks: 3}), 50); err != nil {
		t.Fatal(err)
	}
	went := 0
	for size := 24; size < len(f.data); size += 17 {
		r, err := replay.NewReader(bytes.NewReader(f.data[:size]), int64(size))
		if err != nil {
			continue
		}
		next := &faultyFile{}
		w := replay.NewWriter(next, replay.WriterOptions{FlushTicks: 1})
		recovery := host.NewRecovery(g)
		found, err := replay.Continue(w, r, recovery)
		if err != nil {
			continue // the first state is not there
		}
		if found.Damage == nil || found.Ticks != recovery.Tick() {
			t.Fatalf("%d bytes: %+v, the match is at tick %d", size, found, recovery.Tick())
		}
		host, err := recovery.Host(0, host.Options{Random: func(b []byte) {}})
		if err != nil {
			t.Fatal(err)
		}
		for range 11 {
			r := host.Ready()
			_ = r.AppendTo(w) // its error is that of Close
			host.Advance(r.Next)
		}
		if err := host.Admin().End(0, "done"); err != nil {
			t.Fatal(err)
		}
		_ = host.Ready().AppendTo(w)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if v := verifyBytes(t, g, next.data); v.Ticks != found.Ticks+10 || !v.Ended || v.Differed > 0 {
			t.Fatalf("%d bytes: %+v, want %d ticks", size, v, found.Ticks+10)
		}
		went++
	}
	if went == 0 {
		t.Error("no match went on")
	}
}

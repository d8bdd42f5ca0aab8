package desync_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/stale"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/twin"
	"github.com/seed-49bee653/samestep/replay"
)

// twinBundle returns the bundle of what the heavy mode finds first in a match of rules, after change.
func twinBundle[S any](t *testing.T, rules lockstep.Rules[S, struct{}], change func(*host.Evidence)) *replay.Bundle {
	t.Helper()
	g := lockstep.MustGame(rules)
	s := lockstep.DefaultSettings(1)
	s.Seed = 1
	h, err := g.NewHeader(lockstep.MatchID{1}, s, &struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	var file, bundle bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	c, err := coordinator.New(g, h, w, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Join(0); err != nil {
		t.Fatal(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	var found *twin.Difference
	f := g.NewFollowerAt(h, sim, lockstep.FollowerOptions{Heavy: twin.Options{Percent: 100, Found: func(d *twin.Difference) { found = d }}})
	for found == nil && c.Now() < 5000 {
		frame, err := c.Tick()
		if err == nil {
			err = f.Advance(frame)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == nil {
		t.Fatal("nothing found")
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	e := host.TwinEvidence(found, lockstep.System, nil)
	if change != nil {
		change(e)
	}
	if err := replay.WriteBundle(&bundle, h, e, &file); err != nil {
		t.Fatal(err)
	}
	return open(t, bundle.Bytes())
}

// The grade is proven where the difference comes again as far as the bundle tells: a state that it lacks is no other one, and a panic is
// compared by its text.
func TestExplainTwin(t *testing.T) {
	panics := func(text string) lockstep.Rules[stale.World, struct{}] {
		r := stale.Rules("derived sum")
		derive, first := r.Derive, uint64(0)
		r.Derive = func(w *stale.World, c *struct{}) {
			if derive(w, c); first == 0 {
				first = w.Random
			}
			if w.Random != first { // it is not the beginning
				panic(text)
			}
		}
		return r
	}
	sum := stale.Rules("derived sum")
	again, otherwise := "differs in the same way", "differs, in another way"
	for name, c := range map[string]struct {
		rules, here lockstep.Rules[stale.World, struct{}]
		change      func(*host.Evidence)
		want        string
	}{
		"both states":               {sum, sum, nil, again},
		"no warm state":             {sum, sum, func(e *host.Evidence) { e.Exhibits[1].Referee = nil }, again},
		"no cold state":             {sum, sum, func(e *host.Evidence) { e.Exhibits[1].Player = nil }, again},
		"neither":                   {sum, sum, func(e *host.Evidence) { e.Exhibits = nil }, again},
		"neither, and other values": {sum, sum, func(e *host.Evidence) { e.Exhibits = nil; e.Twin.Cold = "1" }, otherwise},
		"another warm state":        {sum, sum, func(e *host.Evidence) { e.Exhibits[1].Referee[0] ^= 1; e.Exhibits[1].Player = nil }, otherwise},
		"a panic":                   {panics("no room"), panics("no room"), nil, "panicked in the same way"},
		"without its text":          {panics("no room"), panics("no room"), func(e *host.Evidence) { e.Twin.Cold = "" }, "panicked in the same way"},
		"another panic":             {panics("no room"), panics("no air"), nil, "panicked, in another way"},
		"a state, and a panic here": {sum, panics("no room"), nil, "panicked, in another way"},
	} {
		t.Run(name, func(t *testing.T) {
			c.here.Build = c.rules.Build
			e, err := desync.Explain(twinBundle(t, c.rules, c.change), desync.Options{Game: func(*lockstep.Header) (*lockstep.Game, error) { return lockstep.NewGame(c.here) }})
			if err != nil {
				t.Fatal(err)
			}
			grade := desync.GradeConsistent
			if strings.Contains(c.want, "same") {
				grade = desync.GradeProven
			}
			if !strings.Contains(e.Verdict.Text, c.want) || e.Verdict.Grade != grade {
				t.Errorf("got %v: %q, want %v: %q", e.Verdict.Grade, e.Verdict.Text, grade, c.want)
			}
		})
	}
}

type shop struct {
	Gold  uint64
	price []uint64 `state:"derived"`
}

// A table that New makes and Derive forgets: every restored state panics when it reads it. The warm state is computed from the start.
func TestExplainTwinWithoutTable(t *testing.T) {
	rules := lockstep.Rules[shop, struct{}]{
		Name: "shop", Build: "1",
		New: func(w *shop, _ *lockstep.Settings, _ *struct{}) error {
			w.price = make([]uint64, 64)
			return nil
		},
		Step: func(w *shop, _ *struct{}, turn *lockstep.Turn) {
			if w.Gold++; turn.Tick%10 == 0 {
				w.Gold += w.price[turn.Tick/10%64]
			}
		},
		Derive: func(*shop, *struct{}) {},
	}
	e, err := desync.Explain(twinBundle(t, rules, nil), desync.Options{Game: func(*lockstep.Header) (*lockstep.Game, error) { return lockstep.NewGame(rules) }})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	e.WriteText(&text)
	if e.Verdict.Grade != desync.GradeProven || !strings.Contains(e.Verdict.Text, "panicked in the same way") {
		t.Errorf("got %v: %q\n%s", e.Verdict.Grade, e.Verdict.Text, &text)
	}
	if want := "warm: goes on, cold: the game panicked in Step: "; !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
		t.Errorf("got\n%s\nwant %q", &text, want)
	}
}

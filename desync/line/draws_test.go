package line

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

type dungeon struct {
	Loot, Weather fixed.Rand
	Gold          uint32
}

type noConfig struct{}

// dungeonRules draw some more loot than usual in phase combat.
func dungeonRules(more int, marked bool) lockstep.Rules[dungeon, noConfig] {
	return lockstep.Rules[dungeon, noConfig]{
		Name: "dungeon", Build: "1",
		New: func(w *dungeon, s *lockstep.Settings, _ *noConfig) error {
			w.Loot, w.Weather = fixed.NewStream(s.Seed, "loot"), fixed.NewStream(s.Seed, "weather")
			return nil
		},
		Step: func(w *dungeon, _ *noConfig, t *lockstep.Turn) {
			mark := func(name string) {
				if marked {
					t.Phase(name)
				}
			}
			mark("weather")
			w.Gold += w.Weather.N(10)
			t.Drew("scatter", 1)
			mark("combat")
			for range 3 + more {
				w.Gold += w.Loot.N(10)
			}
			for range more {
				t.Drew("scatter", 1)
			}
			mark("end")
			for range w.Gold % 2 {
				w.Weather.N(10) // a consequence
			}
		},
	}
}

// drawn compares the second tick of two versions of the rules, from the state of the first one.
func drawn(t *testing.T, more [2]int, marked bool) *Result {
	t.Helper()
	s := &search{head: &lockstep.Header{}, result: &Result{}}
	var done [2]*job
	var runs [2]*program.Run
	var before []byte
	for i, n := range more {
		g := lockstep.MustGame(dungeonRules(n, marked))
		h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(1), &noConfig{})
		if err != nil {
			t.Fatal(err)
		}
		sim, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		if before == nil {
			before = sim.AppendState(nil)
		}
		if err := sim.Restore(1, before); err != nil {
			t.Fatal(err)
		}
		done[i] = &job{Job: program.Job{Folder: t.TempDir()}}
		r, err := program.Record(done[i].Folder, i, sim, nil)
		if err != nil {
			t.Fatal(err)
		}
		run, err := r.End(sim.Step(&lockstep.Frame{Tick: 2}))
		if err != nil {
			t.Fatal(err)
		}
		s.head, runs[i] = h, &run
	}
	in := partOf(runs)
	if s.result.Phase = in.phase; runs[0].Hash == runs[1].Hash {
		t.Log("the states are equal")
	}
	if err := s.streams(in, done, runs); err != nil {
		t.Fatal(err)
	}
	return s.result
}

// The streams from which the sides drew differently are named, in the phase in which they began to differ, and not what follows.
func TestStreams(t *testing.T) {
	texts := func(r *Result) (all []string) {
		for _, s := range r.Streams {
			all = append(all, s.String())
		}
		return all
	}
	r := drawn(t, [2]int{0, 1}, true)
	if got, want := texts(r), []string{"scatter: 0 draws | 1 draw", "Loot: 3 draws | 4 draws"}; r.Phase != "combat" || !slices.Equal(got, want) {
		t.Errorf("got phase %q and %q, want combat and %q", r.Phase, got, want)
	}
	var text strings.Builder
	r.Tick = 2
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "phase      combat\nstream     scatter: 0 draws | 1 draw\n           Loot: 3 draws | 4 draws\n") {
		t.Errorf("got %v and\n%s", err, text.String())
	}
	r = drawn(t, [2]int{0, 1}, false)
	if got := texts(r); r.Phase != "" || !slices.Contains(got, "Loot: 3 draws | 4 draws") || !slices.Contains(got, "scatter: 1 draw | 2 draws") {
		t.Errorf("without phases: got %q", got)
	}
	if r := drawn(t, [2]int{1, 1}, true); len(r.Streams) > 0 {
		t.Errorf("equal sides: got %v", r.Streams)
	}
}

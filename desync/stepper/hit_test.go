package stepper_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// The game of the tests of steps: players hit the units of a list. A unit without health is removed.
type (
	hitUnit  struct{ ID, Health uint32 }
	hitWorld struct {
		Rand  fixed.Rand
		Units []hitUnit
		Tick  uint32
		stale uint32 `state:"derived"`
	}
	hit   struct{ Unit, By uint32 }
	death struct{ Unit uint32 }
)

// hitRules are the rules. odd changes them: "stale" forgets a derived field, "panic" panics in tick 4, "hard" lets hits count
// double from tick 4 on.
func hitRules(odd string) lockstep.Rules[hitWorld, struct{}] {
	return lockstep.Rules[hitWorld, struct{}]{
		Name: "hits", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[hit](1, "hit")},
		New: func(w *hitWorld, _ *lockstep.Settings, _ *struct{}) error {
			w.Units = []hitUnit{{7, 10}, {8, 10}, {9, 1}}
			return nil
		},
		Derive: func(w *hitWorld, _ *struct{}) { w.stale = 0 },
		Validate: func(w *hitWorld, _ *struct{}, c *lockstep.Command) error {
			if m := c.Value.(*hit); !slices.ContainsFunc(w.Units, func(u hitUnit) bool { return u.ID == m.Unit }) {
				return fmt.Errorf("there is no unit %d", m.Unit)
			}
			return nil
		},
		Step: func(w *hitWorld, _ *struct{}, t *lockstep.Turn) {
			w.Tick = uint32(t.Tick)
			t.Phase("hits")
			for _, c := range t.Commands {
				if m, ok := c.Value.(*hit); ok && !hitUnitOf(w, m, odd) {
					t.Refuse(&c, fmt.Sprintf("unit %d is dead", m.Unit))
				}
			}
			t.Phase("deaths")
			for _, u := range w.Units {
				if u.Health == 0 {
					lockstep.Emit(t, death{u.ID})
				}
			}
			w.Units = slices.DeleteFunc(w.Units, func(u hitUnit) bool { return u.Health == 0 })
			w.Rand.Uint64()
			t.Drew("wind", 3)
			t.Drew("wind", 4)
			if odd == "stale" {
				w.stale++
				w.Rand.Lo += uint64(w.stale)
			}
			if odd == "panic" && t.Tick == 4 {
				panic("no")
			}
		},
	}
}

func hitUnitOf(w *hitWorld, m *hit, odd string) (hits bool) {
	for i := range w.Units {
		if u := &w.Units[i]; u.ID == m.Unit && u.Health > 0 {
			hits = true
			u.Health -= min(m.By, u.Health)
			if odd == "hard" && w.Tick >= 4 {
				u.Health -= min(m.By, u.Health)
			}
		}
	}
	return hits
}

// hitReplay returns the replay of a match of six ticks with a checksum at each. In tick 4 player 0 hits units 7 and 9, and
// player 1 hits unit 9, which dies. In tick 5 player 1 hits it again. less leaves out the first hit.
func hitReplay(tb testing.TB, less bool) *replay.Reader {
	tb.Helper()
	game := lockstep.MustGame(hitRules(""))
	settings := lockstep.DefaultSettings(2)
	settings.CheckEvery, settings.KeyframeEvery = 1, 3
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &struct{}{})
	if err != nil {
		tb.Fatal(err)
	}
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	match, err := coordinator.New(game, header, w, coordinator.Options{InputDelay: 2})
	if err != nil {
		tb.Fatal(err)
	}
	match.Join(0)
	match.Join(1)
	put := func(p lockstep.Player, seq lockstep.Sequence, m hit) {
		kind, payload, err := game.NewPayloads().Encode(&m)
		if err != nil {
			tb.Fatal(err)
		}
		if err := match.Submit(p, seq, kind, payload).Err(); err != nil {
			tb.Fatal(err)
		}
	}
	for range 2 {
		match.Tick()
	}
	if !less {
		put(0, 1, hit{7, 2})
	}
	put(0, 2, hit{9, 1})
	put(1, 1, hit{9, 1})
	match.Tick()
	put(1, 2, hit{9, 5})
	for range 3 {
		match.Tick()
	}
	dots.Finish(tb, match, w, "over")
	r, err := replay.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

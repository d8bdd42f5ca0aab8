//go:build !js && !wasip1

package bodies_test

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/fixed/bodies"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A herd is a game whose units all use this package: they walk in a crowd, and shoot the nearest one that they can see.
type herd struct {
	Units []cow
	Seen  uint64    // neighbours, in all ticks
	cache herdCache `state:"derived"`
}

type cow struct {
	At, Goal fixed.Vec2
	Hits     uint32
}

type herdCache struct {
	index  bodies.Index
	near   *bodies.Near
	crowd  bodies.Crowd
	at     []fixed.Vec2
	bodies []bodies.Body
	found  []uint32
}

type herdConfig struct{ Units uint16 }

// drive is the command that sends all units of a player to a place.
type drive struct{ X, Y int8 }

// herdRules returns the rules. With the mistake, a Near of an earlier tick is asked.
func herdRules(mistake bool) lockstep.Rules[herd, herdConfig] {
	return lockstep.Rules[herd, herdConfig]{
		Name: "herd", Build: "1", Derive: func(*herd, *herdConfig) {}, // nothing to do
		Commands: []lockstep.CommandType{lockstep.Type[drive](1, "drive")},
		New: func(w *herd, s *lockstep.Settings, c *herdConfig) error {
			rand := fixed.NewRand(s.Seed)
			for range c.Units {
				at := fixed.Vec2{X: rand.Range(0, 8*fixed.One), Y: rand.Range(0, 8*fixed.One)}
				w.Units = append(w.Units, cow{At: at, Goal: at})
			}
			return nil
		},
		Step: func(w *herd, _ *herdConfig, t *lockstep.Turn) {
			for _, c := range t.Commands {
				if d, ok := c.Value.(*drive); ok {
					for i := int(c.Player); i < len(w.Units); i += 2 {
						w.Units[i].Goal = at(int64(d.X), int64(d.Y))
					}
				}
			}
			w.step(mistake && t.Tick%7 != 0)
		},
	}
}

func (w *herd) step(stale bool) {
	c := &w.cache
	c.at, c.bodies = c.at[:0], c.bodies[:0]
	for i := range w.Units {
		u := &w.Units[i]
		c.at = append(c.at, u.At)
		c.bodies = append(c.bodies, bodies.Body{
			At: u.At, Radius: fixed.One / 4, Weight: 1, Want: bodies.Arrive(u.At, u.Goal, fixed.One/4, fixed.One),
		})
	}
	if !stale || c.near == nil {
		c.near = c.index.Near(c.at, 2*fixed.One)
	}
	for i := range w.Units {
		u := &w.Units[i]
		c.found = c.near.Within(u.At, 2*fixed.One, c.found[:0])
		w.Seen += uint64(len(c.found))
		shot := bodies.Shot{From: u.At, To: u.Goal}
		if hit, ok := shot.First(c.bodies, nil, func(j int) bool { return j == i }); ok {
			w.Units[hit.Body].Hits++
		}
	}
	c.crowd.Move(c.bodies, nil)
	for i := range w.Units {
		w.Units[i].At = c.bodies[i].At
	}
}

func herdOptions(seed uint64) locksteptest.Options {
	return locksteptest.Options{
		Config: &herdConfig{Units: 16}, Players: 2, Ticks: 30, Seed: seed,
		Play: func(p lockstep.Player, s *lockstep.Simulation) []any {
			if tick := uint64(s.Tick()); tick%20 == uint64(p) {
				return []any{&drive{X: int8(tick%16) - 4, Y: int8(p) * 6}}
			}
			return nil
		},
	}
}

// Restored, copied and rewound machines compute what one does that ran from the start.
func TestMatch(t *testing.T) {
	locksteptest.Check(t, lockstep.MustGame(herdRules(false)), herdOptions(1))
}

// The control: a game that keeps a Near from tick to tick is found.
func TestKeptNearIsFound(t *testing.T) {
	_, err := locksteptest.Run(lockstep.MustGame(herdRules(true)), herdOptions(1))
	var f *locksteptest.Failure
	if !errors.As(err, &f) {
		t.Errorf("the checks found %v", err)
	}
}

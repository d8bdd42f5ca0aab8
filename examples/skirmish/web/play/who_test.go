package play_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/play"
	"github.com/seed-49bee653/samestep/lockstep"
)

// An order for more units than a command can list is several commands: complete groups, and lists of the rest. None is left
// out, and the rules accept each of them.
func TestLargeArmies(t *testing.T) {
	const army = 1300
	for _, test := range []struct {
		name     string
		grouped  int // of the army, in group 2; others of it in group 3
		split    bool
		commands int
	}{
		{"no group", 0, false, 3},
		{"one group", army, false, 1},
		{"a group and others", 900, false, 2},
		{"two groups", 900, true, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := lockstep.World[skirmish.World](newMatch(t))
			model := w.Units[len(w.Units)-1] // of player 1
			n := uint32(0)
			for i := range w.Units {
				w.Units[i].Owner, w.Units[i].Group = 1, 0
			}
			for range army {
				u := model
				u.ID, u.Owner, u.Team, u.Group = w.Units[len(w.Units)-1].ID+1, 0, 0, 0
				if n++; int(n) <= test.grouped {
					u.Group = 2
				} else if test.split {
					u.Group = 3
				}
				w.Units = append(w.Units, u)
			}
			p, rules := play.New(0), skirmish.Rules()
			rules.Derive(w, nil)
			p.Resize(800, 600)
			p.SelectArmy(w)
			for _, give := range []struct {
				action string
				orders func() []any
			}{
				{"move", func() []any { return p.Act(w, 300, 300, false) }},
				{"stop", func() []any { return p.Do(w, "stop") }},
				{"hold", func() []any { return p.Do(w, "hold") }},
				{"attack", func() []any { p.Do(w, "attack"); return p.Target(w, 300, 300, false) }},
				{"patrol", func() []any { p.Do(w, "patrol"); return p.Target(w, 300, 300, false) }},
			} {
				orders, units := give.orders(), 0
				for _, c := range orders {
					if err := skirmish.Judge(w, 0)(c); err != nil {
						t.Errorf("%s: %v", give.action, err)
					}
					who := whoOf(c)
					units += len(who.Units)
					for i := range w.Units {
						if u := &w.Units[i]; who.Group != 0 && u.Owner == 0 && u.Group == who.Group {
							units++
						}
					}
				}
				if units != army || len(orders) != test.commands {
					t.Errorf("%s: got %d commands for %d units, want %d for %d; the problem is %q", give.action, len(orders), units, test.commands, army, p.Problem())
				}
			}
			assigned := 0
			for i, c := range p.Assign(w, 5, false) {
				a := c.(*skirmish.Assign)
				assigned += len(a.Units)
				if a.Add != (i > 0) {
					t.Errorf("command %d adds: %v", i, a.Add)
				}
			}
			if assigned != army {
				t.Errorf("%d of %d units are assigned", assigned, army)
			}
		})
	}
}

func whoOf(c any) skirmish.Who {
	switch c := c.(type) {
	case *skirmish.Move:
		return c.Who
	case *skirmish.Stop:
		return c.Who
	case *skirmish.Hold:
		return c.Who
	case *skirmish.AttackMove:
		return c.Who
	case *skirmish.Patrol:
		return c.Who
	}
	return skirmish.Who{}
}

package conformance

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The conformance game of docs/conformance.md. It must never change, because the files of
// the suite are matches of it.
type (
	world struct {
		Ticks  uint32
		Coins  []int32 // of each seat
		System uint16  // commands of the system so far
		Last   string  // the text of the last say
	}
	config struct{ Start int32 }
	add    struct{ Coins int16 }
	say    struct{ Text string }
)

// The kinds of the game's commands.
const (
	kindAdd = 1
	kindSay = 2
)

// Rules returns the rules of the conformance game.
func Rules() lockstep.Rules[world, config] {
	return lockstep.Rules[world, config]{
		Name: "conform", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[add](kindAdd, "add"), lockstep.Type[say](kindSay, "say")},
		New: func(w *world, s *lockstep.Settings, c *config) error {
			w.Coins = make([]int32, s.Players)
			for i := range w.Coins {
				w.Coins[i] = c.Start
			}
			return nil
		},
		Validate: func(_ *world, _ *config, c *lockstep.Command) error { return nothingToAdd(c) },
		Step:     step,
	}
}

// A victory is the result of the game with a goal.
type victory struct {
	Seat  uint8
	Coins int32
}

// GoalRules returns the rules of the conformance game with a goal, whose rules end the match.
func GoalRules() lockstep.Rules[world, config] {
	rules := Rules()
	rules.Build, rules.Result = "goal", lockstep.Result[victory]()
	rules.Step = func(w *world, c *config, t *lockstep.Turn) {
		if step(w, c, t); w.Last == "draw" {
			t.End(nil)
		}
		for seat := len(w.Coins) - 1; seat >= 0; seat-- { // the first seat last, whose result counts
			if w.Coins[seat] >= c.Start+1000 {
				t.End(&victory{uint8(seat), w.Coins[seat]})
			}
		}
	}
	return rules
}

// A sight is the view of the conformance game with views.
type sight struct {
	Ticks uint32 // at most 10
	Coins int32  // of the viewer's own seat; 0 for spectators
}

// ViewRules returns the rules of the conformance game with views.
func ViewRules() lockstep.Rules[world, config] {
	rules := Rules()
	rules.Build, rules.Validate = "views", nil
	rules.View = lockstep.View(func(w *world, _ *config, by lockstep.Viewer, v *sight) error {
		v.Ticks = min(w.Ticks, 10)
		if by.As == lockstep.AsPlayer && int(by.Number) < len(w.Coins) {
			v.Coins = w.Coins[by.Number]
		}
		return nil
	}, func(_ *sight, c *lockstep.Command) error { return nothingToAdd(c) })
	return rules
}

func nothingToAdd(c *lockstep.Command) error {
	if v, ok := c.Value.(*add); ok && v.Coins == 0 {
		return errors.New("nothing to add")
	}
	return nil
}

func step(w *world, _ *config, t *lockstep.Turn) {
	w.Ticks++
	for i := range t.Commands {
		c := &t.Commands[i]
		switch v := c.Value.(type) {
		case *add:
			if int(c.Player) < len(w.Coins) {
				w.Coins[c.Player] += int32(v.Coins)
			}
		case *say:
			w.Last = v.Text
		default:
			w.System++
		}
	}
}

package lockstep_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A lamp is a view: the lamp of the viewer's own number.
type lamp struct{ On bool }

func seeLamp(w *testgame.Lamps, _ *testgame.Nobody, viewer lockstep.Viewer, v *lamp) error {
	if viewer.As != lockstep.AsPlayer || viewer.Number > 1 {
		return errors.New("two players look")
	}
	v.On = w.On[viewer.Number]
	return nil
}

// A player may not press the own lamp while it is on. Nobody is told about the lamps of the others: to press them may do nothing.
func ExampleView_refuse() {
	rules := testgame.LampRules
	rules.Validate, rules.View = nil, lockstep.View(seeLamp, func(v *lamp, c *lockstep.Command) error {
		if m, ok := c.Value.(*testgame.Press); ok && m.Lamp == uint8(c.Player) && v.On {
			return errors.New("your lamp is on")
		}
		return nil
	})
	sim, press := newLamps(lockstep.MustGame(rules)), &testgame.Press{Lamp: 1}
	for range 2 {
		fmt.Println(sim.Validate(&lockstep.Command{Player: 1, Value: press}), sim.Validate(&lockstep.Command{Player: 0, Value: press}))
		pressed(sim, press)
	}
	// Output:
	// <nil> <nil>
	// your lamp is on <nil>
}

func newLamps(game *lockstep.Game) *lockstep.Simulation {
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(3), &testgame.Nobody{})
	if err != nil {
		panic(err)
	}
	sim, err := game.NewSimulation(header)
	if err != nil {
		panic(err)
	}
	return sim
}

// pressed runs a tick in which player 1 presses a lamp.
func pressed(sim *lockstep.Simulation, press *testgame.Press) {
	frame := lockstep.Frame{Tick: sim.Tick() + 1}
	frame.Commands = []lockstep.Command{{Tick: frame.Tick, Player: 1, Sequence: lockstep.Sequence(frame.Tick), Kind: 1, Payload: []byte{press.Lamp}}}
	if err := sim.Step(&frame); err != nil {
		panic(err)
	}
}

// An answer never depends on more than the present view of its player.
func TestRefuse(t *testing.T) {
	asked := 0
	rules := testgame.LampRules
	rules.Validate, rules.View = nil, lockstep.View(seeLamp, func(v *lamp, c *lockstep.Command) error {
		if asked++; c.Player == 1 && c.Sequence == 9 {
			panic("nine")
		}
		return fmt.Errorf("player %d: %v", c.Player, v.On)
	})
	game := lockstep.MustGame(rules)
	sim := newLamps(game)
	answer := func(p lockstep.Player) string {
		return fmt.Sprint(sim.Validate(&lockstep.Command{Player: p, Value: &testgame.Press{}}))
	}
	before := sim.AppendState(nil)
	expect := func(when string, p lockstep.Player, want string) {
		t.Helper()
		if got := answer(p); got != want {
			t.Errorf("%s: got %q, want %q", when, got, want)
		}
	}
	expect("at first", 1, "player 1: false")
	expect("another player", 0, "player 0: false")
	expect("a player without a view", 2, "<nil>")
	expect("the engine", lockstep.System, "<nil>")
	pressed(sim, &testgame.Press{Lamp: 1})
	expect("after a tick", 1, "player 1: true")
	expect("after a tick, another player", 0, "player 0: false")
	copied := newLamps(game)
	if err := sim.Restore(0, before); err != nil {
		t.Fatal(err)
	}
	expect("restored", 1, "player 1: false")
	pressed(copied, &testgame.Press{Lamp: 1})
	if err := sim.CopyFrom(copied); err != nil {
		t.Fatal(err)
	}
	expect("copied", 1, "player 1: true")
	if asked != 6 {
		t.Errorf("asked %d times, want 6: not for the engine, and not for those without a view", asked)
	}
	var fault *lockstep.PanicError
	if err := sim.Validate(&lockstep.Command{Player: 1, Sequence: 9}); !errors.As(err, &fault) || fault.Where != "Validate" {
		t.Errorf("got %v, want a panic in Validate", err)
	}
}

// A game cannot refuse by what a view hides.
func TestViewWithValidate(t *testing.T) {
	rules := testgame.LampRules
	rules.View = lockstep.View(seeLamp, nil)
	if _, err := lockstep.NewGame(rules); err == nil || !strings.Contains(err.Error(), "game lamps: got View and Validate, want View(see, refuse)") {
		t.Errorf("got %v", err)
	}
}

// What a view shares with the state, or keeps in a derived field, is not in what refuses commands.
func TestRefuseSeesOnlyBytes(t *testing.T) {
	type leaky struct {
		On     []bool
		Hidden []bool `state:"derived"`
	}
	rules := testgame.LampRules
	rules.Validate = nil
	rules.View = lockstep.View(func(w *testgame.Lamps, _ *testgame.Nobody, _ lockstep.Viewer, v *leaky) error {
		v.On, v.Hidden = w.On[:1], w.On[1:]
		return nil
	}, func(v *leaky, _ *lockstep.Command) error {
		v.On[0] = true // as no rules may
		if len(v.Hidden) > 0 {
			return errors.New("a derived field")
		}
		return nil
	})
	sim := newLamps(lockstep.MustGame(rules))
	before := string(sim.AppendState(nil))
	if err := sim.Validate(&lockstep.Command{Player: 1, Value: &testgame.Press{}}); err != nil || string(sim.AppendState(nil)) != before {
		t.Errorf("got %v, and the state is the same: %v", err, string(sim.AppendState(nil)) == before)
	}
}

// A frame that is asked about runs only after its commands were: a panic there is one of the frame's tick. Any other frame just runs.
func TestAskedFrame(t *testing.T) {
	g := lockstep.MustGame(testgame.FaultyBankRules("Validate"))
	_, h := testgame.NewBankMatch(t, 2)
	kind, payload := testgame.Encode(t, g, &testgame.Earn{Coins: 5})
	for _, asked := range []bool{false, true} {
		sim, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		f := &lockstep.Frame{Tick: 1, Commands: []lockstep.Command{{Tick: 1, Player: 1, Sequence: 1, Kind: kind, Payload: payload}}, Asked: asked}
		fault := (*lockstep.PanicError)(nil)
		if err := sim.Step(f); errors.As(err, &fault) != asked || asked && (fault.Where != "Validate" || fault.Tick != 1) {
			t.Errorf("asked %t: got %v", asked, err)
		}
	}
}

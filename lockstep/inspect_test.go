package lockstep_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// diceTable is a game that draws without a trace in the state, and that minds the
// order of its commands.
type diceTable struct{ Last uint8 }

type castDie struct{ Sides uint8 }

func newDice(tb testing.TB) (*lockstep.Game, *lockstep.Simulation) {
	tb.Helper()
	game := lockstep.MustGame(lockstep.Rules[diceTable, testgame.Nobody]{
		Name: "dice", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[castDie](1, "roll")},
		New:      func(*diceTable, *lockstep.Settings, *testgame.Nobody) error { return nil },
		Step: func(w *diceTable, _ *testgame.Nobody, t *lockstep.Turn) {
			for _, c := range t.Commands {
				if r, ok := c.Value.(*castDie); ok {
					t.Drew("roll", uint32(c.Player))
					w.Last = r.Sides
				}
			}
		},
	})
	h, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		tb.Fatal(err)
	}
	s, err := game.NewSimulation(h)
	if err != nil {
		tb.Fatal(err)
	}
	return game, s
}

func rolls(tb testing.TB, g *lockstep.Game, t lockstep.Tick, players ...lockstep.Player) *lockstep.Frame {
	f := &lockstep.Frame{Tick: t}
	for _, p := range players {
		kind, payload, err := g.NewPayloads().Encode(&castDie{Sides: uint8(p) + 4})
		if err != nil {
			tb.Fatal(err)
		}
		f.Commands = append(f.Commands, lockstep.Command{Tick: t, Player: p, Sequence: 1, Kind: kind, Payload: slices.Clone(payload)})
	}
	return f
}

func TestObserveDraws(t *testing.T) {
	game, s := newDice(t)
	var got []lockstep.Draw
	s.ObserveDraws(func(_ lockstep.Tick, d lockstep.Draw) { got = append(got, d) })
	if err := s.Step(rolls(t, game, 1, 0, 1)); err != nil {
		t.Fatal(err)
	}
	s.ObserveDraws(nil)
	if err := s.Step(rolls(t, game, 2, 0, 1)); err != nil {
		t.Fatal(err)
	}
	if want := []lockstep.Draw{{"roll", 0, ""}, {"roll", 1, ""}}; !slices.Equal(got, want) {
		t.Errorf("got draws %v, want %v", got, want)
	}
}

func TestStepInOrderGiven(t *testing.T) {
	game, s := newDice(t)
	wrong := rolls(t, game, 1, 1, 0)
	if err := s.Step(wrong); !errors.Is(err, record.ErrMalformed) {
		t.Fatalf("Step: got %v, want that the order is wrong", err)
	}
	if err := s.StepInOrderGiven(wrong); err != nil {
		t.Fatal(err)
	}
	if got := lockstep.World[diceTable](s).Last; got != 4 {
		t.Errorf("the last to run was %d-sided, want the command of player 0, 4-sided", got)
	}
	if err := s.StepInOrderGiven(wrong); !errors.Is(err, lockstep.ErrGap) {
		t.Errorf("the tick again: got %v", err)
	}
}

func TestSystemValueRefuses(t *testing.T) {
	for name, c := range map[string]lockstep.Command{
		"a player's":   {Player: 3, Kind: 1, Payload: []byte{3}},
		"unknown kind": {Player: lockstep.System, Kind: 99, Payload: []byte{3}},
	} {
		if v, err := record.SystemValue(&c); !errors.Is(err, record.ErrUnknownKind) {
			t.Errorf("%s: got %v, %v", name, v, err)
		}
	}
	for _, payload := range [][]byte{nil, {3, 3}} {
		c := lockstep.Command{Player: lockstep.System, Kind: 1, Payload: payload}
		if v, err := record.SystemValue(&c); !errors.Is(err, record.ErrMalformed) {
			t.Errorf("payload %x: got %v, %v", payload, v, err)
		}
	}
}

// A program that looks for the reason of a desync counts what a game drew.
func ExampleDraw() {
	var turn lockstep.Turn
	turn.Drew("damage", 7) // by the game, in its Step: nobody asked
	game := lockstep.MustGame(testgame.LampRules)
	h, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		panic(err)
	}
	s, err := game.NewSimulation(h)
	if err != nil {
		panic(err)
	}
	counts := make(map[string]int)
	s.ObserveDraws(func(_ lockstep.Tick, d lockstep.Draw) { counts[d.Purpose]++ })
	if err := s.Step(&lockstep.Frame{Tick: 1}); err != nil {
		panic(err)
	}
	fmt.Println(len(counts), "purposes in tick", s.Tick())
	// Output: 0 purposes in tick 1
}

// The system's commands in a log can be read without the game.
func ExampleSystemValue() {
	command := lockstep.Command{Tick: 1, Player: lockstep.System, Sequence: 1, Kind: 1, Payload: []byte{3}}
	v, err := record.SystemValue(&command)
	if joined, ok := v.(*lockstep.Joined); ok {
		fmt.Println("player", joined.Player, "joined,", err)
	}
	// Output: player 3 joined, <nil>
}

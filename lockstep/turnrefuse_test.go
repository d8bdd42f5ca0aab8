package lockstep_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Two purchases of one tick: both were accepted, and there is money for one.
func ExampleTurn_Refuse() {
	game := lockstep.MustGame(testgame.ShopRules(false))
	shop := newShop(game)
	frame := purchases(game, 1, 7, 7)
	for i := range frame.Commands {
		fmt.Println("accepted:", validates(game, shop, frame.Commands[i]) == nil)
	}
	if err := shop.Step(frame); err != nil {
		fmt.Println(err)
	}
	for i := range frame.Commands {
		reason, refused := shop.Refused(&frame.Commands[i])
		fmt.Printf("refused: %v %q\n", refused, reason)
	}
	// Output:
	// accepted: true
	// accepted: true
	// refused: false ""
	// refused: true "no money left: got 3 coins, want 7"
}

func newShop(game *lockstep.Game) *lockstep.Simulation {
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.ShopConfig{Coins: 10})
	if err != nil {
		panic(err)
	}
	sim, err := game.NewSimulation(header)
	if err != nil {
		panic(err)
	}
	return sim
}

// purchases returns the frame of a tick in which player 1 buys for some prices.
func purchases(game *lockstep.Game, tick lockstep.Tick, prices ...uint32) *lockstep.Frame {
	f := &lockstep.Frame{Tick: tick}
	for _, price := range prices {
		kind, payload, err := game.NewPayloads().Encode(&testgame.Buy{Price: price})
		if err != nil {
			panic(err)
		}
		f.Commands = append(f.Commands, lockstep.Command{Tick: tick, Player: 1, Sequence: lockstep.Sequence(len(f.Commands) + 1), Kind: kind, Payload: payload})
	}
	return f
}

func validates(game *lockstep.Game, sim *lockstep.Simulation, c lockstep.Command) error {
	if err := game.NewPayloads().Decode(&c); err != nil {
		return err
	}
	return sim.Validate(&c)
}

// An answer is of one tick, and no part of the state: a restored or copied one does not have it.
func TestRefusedIsOfOneTick(t *testing.T) {
	game := lockstep.MustGame(testgame.ShopRules(false))
	sim, f := newShop(game), purchases(game, 1, 7, 7, 2, 2)
	refused := func(s *lockstep.Simulation) (list []lockstep.Sequence) {
		for i := range f.Commands {
			if _, yes := s.Refused(&f.Commands[i]); yes {
				list = append(list, f.Commands[i].Sequence)
			}
		}
		return list
	}
	expect := func(when string, s *lockstep.Simulation, want string) {
		t.Helper()
		if got := fmt.Sprint(refused(s)); got != want {
			t.Errorf("%s: got %s, want %s", when, got, want)
		}
	}
	if err := sim.Step(f); err != nil {
		t.Fatal(err)
	}
	expect("after the tick", sim, "[2 4]")
	other := f.Commands[1]
	other.Player = 0
	if _, yes := sim.Refused(&other); yes {
		t.Error("another player's command with that sequence was refused")
	}
	copied := newShop(game)
	if err := copied.CopyFrom(sim); err != nil || copied.Hash() != sim.Hash() {
		t.Fatal(err, "or another state")
	}
	expect("copied", copied, "[]")
	if err := copied.Step(purchases(game, 2, 9)); err != nil {
		t.Fatal(err)
	}
	expect("copied, and another tick", copied, "[]")
	if err := sim.Restore(1, sim.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	expect("restored", sim, "[]")
	if err := sim.StepInOrderGiven(purchases(game, 2, 9)); err != nil {
		t.Fatal(err)
	}
	if _, yes := sim.Refused(&purchases(game, 2, 9).Commands[0]); !yes {
		t.Error("the next tick refused nothing")
	}
	expect("after the next tick", sim, "[]")
	f = purchases(game, 3, 0, 0, 0, 0)
	if err := sim.Step(f); err != nil {
		t.Fatal(err)
	}
	expect("sequences that were refused before", sim, "[]")
}

// Wrong uses panic in Step, and a reason is text of bounded size.
func TestRefuseMisused(t *testing.T) {
	refuse := func(f func(turn *lockstep.Turn)) error {
		rules := testgame.ShopRules(false)
		rules.Step = func(_ *testgame.Shop, _ *testgame.ShopConfig, turn *lockstep.Turn) { f(turn) }
		game := lockstep.MustGame(rules)
		frame := purchases(game, 1, 5, 6)
		sim := newShop(game)
		if err := sim.Step(frame); err != nil {
			return err
		}
		for i := range frame.Commands {
			if reason, refused := sim.Refused(&frame.Commands[i]); refused {
				return fmt.Errorf("command %d: %s", i+1, reason)
			}
		}
		return nil
	}
	for name, x := range map[string]struct {
		f    func(turn *lockstep.Turn)
		want string
	}{
		"of another player":   {func(t *lockstep.Turn) { t.Refuse(&lockstep.Command{Tick: 1, Sequence: 1}, "") }, "got command 1 of player 0, want a player's command of tick 1"},
		"of another sequence": {func(t *lockstep.Turn) { t.Refuse(&lockstep.Command{Tick: 1, Player: 1, Sequence: 3}, "") }, "got command 3 of player 1"},
		"of the engine": {func(t *lockstep.Turn) {
			t.Refuse(&lockstep.Command{Tick: 1, Player: lockstep.System, Sequence: 1}, "")
		}, "got command 1 of system"},
		"in Each": {func(t *lockstep.Turn) {
			t.Each(1, func(_ int, own *lockstep.Turn) { own.Refuse(&own.Commands[0], "") })
		}, "Turn.Refuse in Turn.Each"},
		"by value, in another order, and twice": {func(t *lockstep.Turn) {
			t.Commands[0], t.Commands[1] = t.Commands[1], t.Commands[0]
			for _, c := range t.Commands {
				t.Refuse(&c, "first")
			}
			t.Refuse(&t.Commands[1], "second")
		}, "command 1: second"},
		"without a reason": {func(t *lockstep.Turn) { t.Refuse(&t.Commands[1], "") }, "command 2: "},
	} {
		if err := refuse(x.f); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %s", name, err, x.want)
		} else if fault := (*lockstep.PanicError)(nil); errors.As(err, &fault) == strings.HasPrefix(x.want, "command ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	err := refuse(func(t *lockstep.Turn) { t.Refuse(&t.Commands[0], "\xff"+strings.Repeat("ä", record.MaxNote)) })
	reason := strings.TrimPrefix(err.Error(), "command 1: ")
	if len(reason) > record.MaxNote || len(reason) < record.MaxNote-2 || !utf8.ValidString(reason) {
		t.Errorf("got a reason of %d bytes that is UTF-8: %v", len(reason), utf8.ValidString(reason))
	}
}

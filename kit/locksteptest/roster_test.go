package locksteptest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Changes of the players and of the match reach the rules, unless they are disabled.
func TestChanges(t *testing.T) {
	seen := map[string]int{}
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		for i := range turn.Commands {
			if c := &turn.Commands[i]; c.Player == lockstep.System && turn.Tick > 1 {
				seen[fmt.Sprintf("%T", c.Value)]++
			}
		}
		stepPasture(w, config, turn)
	}
	o := options()
	o.Changes = -1
	locksteptest.Check(t, lockstep.MustGame(rules), o)
	if len(seen) > 0 {
		t.Errorf("without changes: got %v", seen)
	}
	o.Changes = 32
	for seed := range uint64(8) {
		o.Seed = seed
		locksteptest.Check(t, lockstep.MustGame(rules), o)
	}
	for _, name := range []string{"Joined", "Left", "Lost", "TakenOver", "Paused", "Resumed", "SpeedSet"} {
		if seen["*record."+name] == 0 {
			t.Errorf("no %s in %v", name, seen)
		}
	}
}

// A fault that depends on two losses of players is shrunk to these.
func TestShrinkChanges(t *testing.T) {
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		stepPasture(w, config, turn)
		for i := range turn.Commands {
			if _, ok := turn.Commands[i].Value.(*lockstep.Lost); ok {
				w.Cache++
				w.Herds[0].Size = w.Cache // the first one for some, a later one for others
			}
		}
	}
	o := options()
	o.Changes = 32
	small := find(t, rules, o).Shrink(locksteptest.ShrinkOptions{})
	orders := small.Options.Orders
	if len(orders) != 2 || orders[0].Player != lockstep.System || orders[1].Player != lockstep.System || small.Field != "Herds[0].Size" {
		t.Fatalf("got %v of orders %+v", small, orders)
	}
	var b strings.Builder
	if err := small.WriteTest(&b, locksteptest.Source{Package: "locksteptest_test", Path: "github.com/seed-49bee653/samestep/kit/locksteptest", Game: "game()"}); err != nil {
		t.Fatal(err)
	}
	if want := "Player: 255, Kind: 0, Value: &record.Lost{}},"; !strings.Contains(b.String(), want) {
		t.Errorf("got %s, want %s in it", b.String(), want)
	}
}

// Changes can be written as orders, at any place of their tick.
func TestWrittenChanges(t *testing.T) {
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		for i := range turn.Commands {
			if _, ok := turn.Commands[i].Value.(*lockstep.Left); ok && turn.Tick != 3 {
				panic("left at another tick")
			}
			if _, ok := turn.Commands[i].Value.(*breed); ok && turn.Commands[i].Player == 1 {
				panic("somebody commands who has left")
			}
		}
		stepPasture(w, config, turn)
	}
	o := options()
	o.Orders = []locksteptest.Order{
		{Tick: 3, Player: 1, Value: &breed{}},
		{Tick: 3, Player: lockstep.System, Value: &lockstep.Left{Player: 1}},
		{Tick: 7, Player: lockstep.System, Value: &lockstep.Paused{Player: 0}},
		{Tick: 8, Player: lockstep.System, Value: &lockstep.Resumed{Player: 0}},
	}
	locksteptest.Check(t, lockstep.MustGame(rules), o)
	o.Orders = o.Orders[:3]
	if _, err := locksteptest.Run(lockstep.MustGame(rules), o); err == nil || !strings.Contains(err.Error(), "play: tick 8: the match is paused, and nobody resumes it") {
		t.Errorf("got %v", err)
	}
	o.Orders[2].Value = &breed{}
	if _, err := locksteptest.Run(lockstep.MustGame(rules), o); err == nil || !strings.Contains(err.Error(), "play: tick 7: unsupported command of System") {
		t.Errorf("got %v", err)
	}
}

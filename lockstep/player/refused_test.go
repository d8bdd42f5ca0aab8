package player_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A player hears once, behind the receipt, that the rules refused a command when it ran: also if the connection is lost at any moment and
// resumed, or the state is replaced by the server's and the ticks run again. So does a player with views, if it is connected then. Nobody
// else hears it.
func TestRefusedOnce(t *testing.T) {
	for _, kind := range []struct {
		name  string
		views bool
		cut   bool // the connection, else the state
	}{{"simulates", false, true}, {"repaired", false, false}, {"views", true, true}} {
		missed := 0
		for at := lockstep.Time(-1); at < 400*lockstep.Millisecond; at += 20 * lockstep.Millisecond {
			x := newTheatreOf(t, lockstep.MustGame(testgame.ShopRules(true)), &testgame.ShopConfig{Coins: 10}, 2)
			a := x.joinWith(player.Options{Token: "a", Views: kind.views, Predict: 4})
			b := x.joinWith(player.Options{Token: "b", Views: kind.views})
			x.pass(lockstep.Second)
			for range 2 {
				for _, buys := range []struct {
					l     *looker
					price uint32
				}{{a, 7}, {b, 1}} {
					if _, err := buys.l.c.Submit(&testgame.Buy{Price: buys.price}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if at >= 0 {
				x.pass(at)
				if kind.cut {
					x.cut(a)
				} else if err := a.c.Corrupt("Coins[1]"); err != nil {
					t.Fatal(err)
				}
			}
			x.pass(4 * lockstep.Second)
			x.cut(a)
			x.pass(4 * lockstep.Second)
			told := fmt.Sprint(answers(a))
			if kind.views && told == "[accepted 1 accepted 2]" {
				missed++ // it was away
			} else if told != "[accepted 1 accepted 2 refused 2: no money left: got 3 coins, want 7]" {
				t.Errorf("%s, disturbed after %d ms: got %s", kind.name, at/lockstep.Millisecond, told)
			}
			if at < 0 && missed > 0 {
				t.Errorf("%s: nothing was told without a disturbance", kind.name)
			}
			if got := fmt.Sprint(answers(b)); got != "[accepted 1 accepted 2]" {
				t.Errorf("%s: another player got %s", kind.name, got)
			}
			if bought := lockstep.World[testgame.Shop](x.host.Referee().Simulation()).Bought; bought[0] != 1 {
				t.Fatalf("%s: got %d purchases, want 1", kind.name, bought[0])
			}
		}
		if missed > 5 {
			t.Errorf("%s: %d of 20 heard nothing", kind.name, missed)
		}
	}
}

// What a viewer is told of a tick waits for the log, as all of the tick does.
func TestRefusedIsDurable(t *testing.T) {
	x := newTheatreOf(t, lockstep.MustGame(testgame.ShopRules(true)), &testgame.ShopConfig{Coins: 10}, 1)
	a := x.join("a")
	x.pass(lockstep.Second)
	for range 2 {
		if _, err := a.c.Submit(&testgame.Buy{Price: 7}); err != nil {
			t.Fatal(err)
		}
	}
	x.pass(20 * lockstep.Millisecond)
	x.slow = true
	x.pass(lockstep.Second)
	if got := answers(a); len(got) != 2 {
		t.Errorf("with a slow log: got %v, want two receipts", got)
	}
	x.slow = false
	x.pass(lockstep.Second)
	if got := answers(a); len(got) != 3 {
		t.Errorf("with the log: got %v, want another answer", got)
	}
}

// answers returns the receipts and later refusals that a client has got.
func answers(l *looker) (list []string) {
	for _, e := range l.events {
		switch e := e.(type) {
		case lockstep.Receipt:
			list = append(list, fmt.Sprintf("%.8s %d", e, e.Sequence))
		case player.Refused:
			list = append(list, fmt.Sprintf("refused %d: %s", e.Sequence, e.Reason))
		}
	}
	return list
}

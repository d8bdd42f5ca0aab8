package minimal_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Two dots on one coin: the lower player takes it. A command of a player without a dot does nothing.
func TestStep(t *testing.T) {
	at := fixed.Vec2{X: 3 * fixed.One}
	w := minimal.World{Dots: []minimal.Dot{{At: at}, {At: at}}, Coins: []fixed.Vec2{at}}
	minimal.Rules().Step(&w, nil, &lockstep.Turn{Tick: 1, Commands: []lockstep.Command{
		{Player: 1, Kind: 1, Value: &minimal.Go{X: 9}},
		{Player: 2, Kind: 1, Value: &minimal.Go{X: 9}},
	}})
	if w.Dots[0].Coins != 1 || w.Dots[1].Coins != 0 || len(w.Coins) != 0 {
		t.Errorf("got %+v, want the coin with player 0", w)
	}
	if got, want := w.Dots[1].At.X, 3*fixed.One+fixed.One/4; got != want {
		t.Errorf("player 1 is at %v, want %v", got, want)
	}
}

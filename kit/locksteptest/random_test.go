package locksteptest_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A seed and a player determine the commands of a random bot, and its rate their number.
func TestRandomBot(t *testing.T) {
	g := lockstep.MustGame(pastureRules())
	play := func(p lockstep.Player, seed uint64, rate int) (all []any) {
		bot := locksteptest.RandomBot(g, rate, nil)(p, seed)
		for range 400 {
			all = append(all, bot(nil)...)
		}
		return all
	}
	drives, breeds := 0, 0
	for _, v := range play(0, 1, 16) {
		switch v.(type) {
		case *drive:
			drives++
		case *breed:
			breeds++
		}
	}
	if drives+breeds != 400 || min(drives, breeds) < 150 {
		t.Errorf("got %d drives and %d breeds of 400 calls", drives, breeds)
	}
	if !reflect.DeepEqual(play(0, 1, 16), play(0, 1, 16)) || reflect.DeepEqual(play(0, 1, 16), play(1, 1, 16)) ||
		reflect.DeepEqual(play(0, 1, 16), play(0, 2, 16)) {
		t.Error("the seed and the player do not determine the commands")
	}
	if n := len(play(0, 1, 4)); n < 60 || n > 140 {
		t.Errorf("got %d commands of 400 calls, want about 100", n)
	}
	if n := len(play(0, 1, 0)); n != 0 {
		t.Errorf("got %d commands, want none", n)
	}
}

func ExampleRandomBot() {
	game := lockstep.MustGame(minimal.Rules())
	bot := locksteptest.RandomBot(game, 16, nil)(0, 1)
	for range 3 {
		fmt.Println(len(bot(nil)), "command")
	}
	// Output:
	// 1 command
	// 1 command
	// 1 command
}

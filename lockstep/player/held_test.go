package player_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

func ExampleHeld() {
	h := testgame.NewLampHost(host.Options{})
	v := &venue{host: h, client: player.New(lockstep.MustGame(testgame.LampRules), player.Options{Token: "Ann"})}
	v.handle = func(e any) {
		if held, ok := e.(player.Held); ok {
			fmt.Printf("held %q\n", held.Reason)
		}
	}
	v.play(lockstep.Second)
	h.Hold(v.now, "the disk is full")
	v.play(lockstep.Second)
	h.Hold(v.now, "")
	v.play(lockstep.Second)
	fmt.Printf("tick %d\n", h.Now())
	// Output:
	// held "the disk is full"
	// held ""
	// tick 39
}

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
	h.Admin().Hold(v.now, host.Wait{Reason: "the disk is full"})
	v.play(lockstep.Second)
	h.Admin().Hold(v.now, host.Wait{})
	v.play(lockstep.Second)
	fmt.Printf("tick %d\n", h.Now())
	// Output:
	// held "the disk is full"
	// held ""
	// tick 39
}

// In the lobby of a match, players say that they are ready, and see who is.
func ExampleClient_SetReady() {
	h := testgame.NewLampHost(host.Options{Start: host.StartPolicy{Players: 1, Ready: true, Countdown: 3 * lockstep.Second}})
	v := &venue{host: h, client: player.New(lockstep.MustGame(testgame.LampRules), player.Options{Token: "Ann"})}
	v.handle = func(e any) {
		switch e := e.(type) {
		case player.Held:
			fmt.Printf("held %q for %v, for %d s\n", e.Reason, e.Players, max(0, e.Until-v.now)/lockstep.Second)
		case player.SeatChanged:
			fmt.Printf("seat %d: %v %q, ready %t\n", e.Player, e.Presence, e.Name, e.Ready)
		}
	}
	v.play(lockstep.Second)
	v.client.SetReady(true)
	v.play(4 * lockstep.Second)
	fmt.Printf("tick %d, held %q\n", h.Now()/10*10, v.client.Held().Reason)
	// Output:
	// held "more players are awaited" for [], for 0 s
	// seat 0: here "Ann", ready false
	// held "not all players are ready" for [0], for 0 s
	// seat 0: here "Ann", ready true
	// held "the match begins" for [], for 3 s
	// held "" for [], for 0 s
	// tick 20, held ""
}

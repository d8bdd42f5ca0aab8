package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/client"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A client that gets no answer dials again, then gives up.
func ExampleSession() {
	game := lockstep.MustGame(minimal.Rules())
	options := client.Options{Options: player.Options{
		Token:     "c3ab8ff13720e8ad9047",
		Reconnect: player.ReconnectPolicy{First: lockstep.Millisecond, Longest: lockstep.Millisecond, Attempts: 2},
	}, Handle: func(_ *player.Client, e any) { fmt.Printf("%T\n", e) }}
	var s *client.Session = client.Dial(context.Background(), "ws://127.0.0.1:1/matches/duel/play", game, options)
	fmt.Println(errors.Is(s.Wait(), player.ErrGaveUp))
	// Output:
	// player.Dialing
	// player.ConnectFailed
	// player.Retrying
	// player.Dialing
	// player.ConnectFailed
	// player.Retrying
	// player.Dialing
	// player.ConnectFailed
	// player.LostForGood
	// true
}

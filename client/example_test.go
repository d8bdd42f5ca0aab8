package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-49bee653/samestep/client"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server/assets"
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

// A folder keeps the maps of matches for the next session, up to 256 MiB of them.
func ExampleAssetCache() {
	dir, err := os.MkdirTemp("", "maps")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	var cache client.AssetCache = assets.Folder{Dir: dir, MaxBytes: 256 << 20}
	options := client.Options{Assets: cache} // for client.Dial

	// What a session does with it:
	content := []byte("T..T\n")
	valley, err := record.NewAsset("valley.map", content)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = options.Assets.Read(valley)
	fmt.Println(errors.Is(err, record.ErrNoAsset))
	fmt.Println(options.Assets.Write(valley, content))
	again, err := options.Assets.Read(valley)
	fmt.Printf("%q %v\n", again, err)
	// Output:
	// true
	// <nil>
	// "T..T\n" <nil>
}

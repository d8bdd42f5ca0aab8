//go:build !js

package tool_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/examples/platforms/compat"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server"
)

// The program of a game calls Main with the same games. It has every verb.
func Example() {
	var bot tool.Option = tool.Bot(minimal.NewBot)
	var game tool.Game = tool.New(minimal.Rules(), bot, tool.Config(minimal.Usual))
	code := tool.Run(context.Background(), []string{"mygame", "serve", "--game", "chess"}, os.Stdout, os.Stdout, game)
	fmt.Println("exit code", code)
	// Output:
	// mygame: usage: serve: unknown game "chess", want minimal
	// exit code 2
}

// A server of the game also takes clients of another engine, if it is started with compat: true.
func ExampleCompat() {
	other := tool.Compat(compat.Settings(), func(s *server.Server, o tool.CompatOptions) http.Handler {
		return compat.New(s, compat.Options{Match: o.Match, Strangers: o.Strangers, Origins: o.Origins, Log: o.Log})
	})
	game := tool.New(platforms.Rules(), tool.Config(platforms.Usual), other)
	args := []string{"mygame", "serve", "--check-config", "--dir", "", "--set", "compat=true", "--set", "player-tokens=a b"}
	code := tool.Run(context.Background(), args, os.Stdout, io.Discard, game)
	fmt.Println("exit code", code)
	// Output:
	// ok
	// exit code 0
}

// A program brings the maps of its game with it. Others come from the folder of --assets.
func ExampleAssets() {
	const valley = "...###...^^..."
	asset, err := record.NewAsset("valley.map", []byte(valley))
	if err != nil {
		fmt.Println(err)
		return
	}
	read := func(a lockstep.Asset) ([]byte, error) {
		if a != asset {
			return nil, record.ErrNoAsset
		}
		return []byte(valley), nil
	}
	usual := func(int) testgame.TilesConfig { return testgame.TilesConfig{Map: asset} }
	game := tool.New(testgame.TilesRules(), tool.Config(usual), tool.Assets(read))
	code := tool.Run(context.Background(), []string{"mygame", "serve", "--check-config", "--dir", ""}, os.Stdout, os.Stdout, game)
	fmt.Println("exit code", code)
	// Output:
	// ok
	// exit code 0
}

// The rules of a game need arguments, so the program says how a Go test of fuzz makes them.
func ExampleSource() {
	game := tool.New(minimal.Rules(), tool.Config(minimal.Usual), tool.Source(locksteptest.Source{
		Package: "mygame_test", Path: "example.com/mygame", Imports: []string{"example.com/mygame"},
		Game: "lockstep.MustGame(mygame.Rules(mygame.Hard))",
	}))
	code := tool.Run(context.Background(), []string{"mygame", "fuzz", "--matches", "1", "--ticks", "9"}, io.Discard, os.Stdout, game)
	fmt.Println("exit code", code)
	// Output: exit code 0
}

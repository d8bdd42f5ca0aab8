//go:build !js

package tool_test

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep/locksteptest"
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

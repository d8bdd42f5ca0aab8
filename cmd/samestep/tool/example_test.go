//go:build !js

package tool_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/minimal"
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

//go:build !js

package tool_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/minimal"
)

// The main function of a program with all verbs for one game.
func ExampleMain() {
	tool.Main(tool.New(minimal.Rules(), tool.Bot(minimal.NewBot), tool.Config(minimal.Usual)))
}

// A program is its games and their options. Tests can run it too.
func ExampleRun() {
	options := []tool.Option{tool.Bot(minimal.NewBot), tool.Config(minimal.Usual)}
	games := []tool.Game{tool.New(minimal.Rules(), options...)}
	code := tool.Run(context.Background(), []string{"coins", "serve", "--game", "chess"}, os.Stdout, os.Stdout, games...)
	fmt.Println("exit code", code)
	// Output:
	// coins: usage: serve: unknown game "chess", want minimal
	// exit code 2
}

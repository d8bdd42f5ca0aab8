//go:build !js && !wasip1

package clustertool_test

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep-cluster/clustertool"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/replay"
)

// The program of a game calls Main with the same games.
func Example() {
	game := tool.New(minimal.Rules(), tool.Bot(minimal.NewBot), tool.Config(minimal.Usual))
	code := clustertool.Run(context.Background(), []string{"mygame", "farm", "submit"}, os.Stdout, os.Stdout, game)
	fmt.Println("exit code", code)
	// Output:
	// mygame: usage: farm submit: want either DIR or --archive
	// exit code 2
}

// A program has a verb of its own. Its error decides the exit code.
func Example_extension() {
	judge := &cli.Command{Name: "judge", Action: func(*cli.Context) error {
		return &tool.ClassError{Class: replay.ClassDesync, Text: "they cheat"}
	}}
	var ext tool.Extension
	ext.Verbs = append(ext.Verbs, judge)
	code := tool.RunWith(context.Background(), []string{"mygame", "judge"}, os.Stdout, os.Stdout, ext, tool.New(minimal.Rules()))
	fmt.Println("exit code", code)
	// Output:
	// mygame: they cheat
	// exit code 3
}

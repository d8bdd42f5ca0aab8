//go:build !js

// Package clustertool is the command line of a cluster as a package: all verbs of samestep for the games of any program, with
// servers whose matches outlive their machines.
//
//	package main
//
//	func main() {
//		clustertool.Main(tool.New(mygame.Rules(), tool.Bot(mygame.NewBot), tool.Config(mygame.Usual)))
//	}
//
// It is apart from package tool, because it links an embedded NATS server. docs/cluster.md explains a cluster.
package clustertool

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
)

// Main runs the command line of a program with these games, and exits; see [tool.Main].
func Main(games ...tool.Game) { tool.MainWith(extension(), games...) }

// Run runs a command line until ctx ends, and returns the exit code; see [tool.Run].
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, games ...tool.Game) int {
	return tool.RunWith(ctx, args, stdout, stderr, extension(), games...)
}

func extension() tool.Extension {
	return tool.Extension{Verbs: []*cli.Command{storageCommand(), relayCommand()}, ServeFlags: serveFlags, Serve: serve}
}

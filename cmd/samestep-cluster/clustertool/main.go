//go:build !js

// Package clustertool is the engine's command line with the verbs for several machines, as a package: a program for its
// own games calls Main as it would call tool.Main.
//
//	package main
//
//	func main() {
//		clustertool.Main(tool.New(mygame.Rules(), tool.Bot(mygame.NewBot), tool.Config(mygame.Usual)))
//	}
//
// It is apart from package tool because the client and the nodes of the cluster's storage would double every program.
package clustertool

import (
	"context"
	"io"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
)

// Main runs the command line of a program with these games, at least one, and exits; see tool.Main.
func Main(games ...tool.Game) { tool.MainWith(extension(), games...) }

// Run runs a command line until ctx ends, and returns the exit code; see tool.Run.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, games ...tool.Game) int {
	return tool.RunWith(ctx, args, stdout, stderr, extension(), games...)
}

// extension is what package tool does not have.
func extension() tool.Extension {
	return tool.Extension{
		Verbs:      append(demoCommands(), statusCommand(), storageCommand(), keysCommand(), permissionsCommand(), relayCommand(), farmCommand()),
		ServeFlags: serveFlags(), CheckServe: checkServe, Serve: serve, OpenStore: openStore, StoreFlags: connectionFlags(localStorage),
	}
}

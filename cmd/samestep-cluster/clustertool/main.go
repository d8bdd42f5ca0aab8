//go:build !js

// Package clustertool is the command line for several machines, as a package: serve as a member of a cluster, and the verbs for its
// storage, mirrors and farms. A program for its own games calls Main, beside the one that calls tool.Main.
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
	_ "github.com/seed-49bee653/samestep/cmd/samestep/tool/s3" // as an archive of many servers is there
)

// Main runs the command line of a program with these games, at least one, and exits; see tool.Main.
func Main(games ...tool.Game) { tool.MainWith(extension(), games...) }

// Run runs a command line until ctx ends, and returns the exit code; see tool.Run.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, games ...tool.Game) int {
	return tool.RunWith(ctx, args, stdout, stderr, extension(), games...)
}

// extension is what package tool does not have.
func extension() tool.Extension {
	index := tool.IndexCommand()
	index.Flags = append(index.Flags, connectionFlags(localStorage)...)
	return tool.Extension{
		Verbs: append(demoCommands(), statusCommand(), storageCommand(), keysCommand(), permissionsCommand(), mirrorCommand(), farmCommand(), index),
		Keep:  []string{"serve", "healthcheck", "bench"},

		ServeFlags: serveFlags(), ServeKeys: serveKeys(), CheckServe: checkServe, Serve: serve, OpenStore: openStore,
	}
}

//go:build !js

package desyncs

import (
	"github.com/urfave/cli/v2"
)

// DesyncCommand returns the verb desync.
func DesyncCommand() *cli.Command {
	return &cli.Command{Name: "desync", Usage: "find out why checksums differed", Subcommands: []*cli.Command{desyncExplainCommand(), desyncTriageCommand(), desyncLineCommand(), desyncRedactCommand()}}
}

package main

import (
	"github.com/urfave/cli/v2"
)

func desyncCommand() *cli.Command {
	return &cli.Command{
		Name:         "desync",
		Usage:        "find out why checksums differed",
		OnUsageError: usageError,
		Subcommands:  []*cli.Command{desyncExplainCommand()},
		Action:       showSubcommands,
	}
}

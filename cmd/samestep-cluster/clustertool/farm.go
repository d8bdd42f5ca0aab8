//go:build !js

package clustertool

import "github.com/urfave/cli/v2"

func farmCommand() *cli.Command {
	return &cli.Command{
		Name:        "farm",
		Usage:       "verify many replays on many machines",
		Subcommands: []*cli.Command{farmWorkCommand(), farmSubmitCommand(), farmWatchCommand(), farmResultsCommand(), farmForgetCommand()},
	}
}

//go:build !js

package replays

import (
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/urfave/cli/v2"
)

func replayFollowCommand() *cli.Command {
	return &cli.Command{
		Name:      "follow",
		Usage:     "print the records of a match while it is played",
		ArgsUsage: "FILE",
		Description: `Prints the same lines as dump while the file grows, and ends when the match is over.
It waits for the rest of a record that is torn at the end of the file. It fails if
the file is cut or replaced before the match is over. dump --follow does the same;
verify --follow verifies a match while it is played.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON, for programs: a line for each record or command"},
			&cli.BoolFlag{Name: "commands", Usage: "print only the commands"},
			delayFlag, idleFlag,
		},
		Action: gameset.OnReplay(followRecords),
	}
}

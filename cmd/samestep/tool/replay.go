//go:build !js

package tool

import "github.com/urfave/cli/v2"

func replayCommand(index *cli.Command) *cli.Command {
	return &cli.Command{
		Name:  "replay",
		Usage: "inspect, verify, compare and rewrite replay files",
		Subcommands: []*cli.Command{
			replayInfoCommand(), replayVerifyCommand(), replayDumpCommand(), replayFollowCommand(), replayWatchCommand(), replaySeekCommand(), replayFeedCommand(),
			replayStepCommand(), replayDebugCommand(), replayDiffCommand(), replayBisectCommand(), replaySealCommand(), index,
			replaySignCommand(), replayAttachCommand(), replayCutCommand(), replayRekeyCommand(), replayRecoverCommand(), replayImportCommand(), replayExportCommand(),
		},
	}
}

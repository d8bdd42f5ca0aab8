//go:build !js

// Package replays has the verbs of replay files: samestep replay and audit.
package replays

import "github.com/urfave/cli/v2"

// ReplayCommand returns the verb replay.
func ReplayCommand(index *cli.Command) *cli.Command {
	return &cli.Command{
		Name:  "replay",
		Usage: "inspect, verify, compare and rewrite replay files",
		Subcommands: []*cli.Command{
			replayInfoCommand(), ReplayVerifyCommand(), replayDumpCommand(), replayFollowCommand(), replayWatchCommand(), replaySeekCommand(), replayFeedCommand(),
			replayStepCommand(), replayDebugCommand(), replayDiffCommand(), replayBisectCommand(), replaySealCommand(), index,
			replaySignCommand(), replayAttachCommand(), replayCutCommand(), replayRekeyCommand(), replayRecoverCommand(), replayImportCommand(), replayExportCommand(),
		},
	}
}

//go:build !js

package clustertool

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/internal/words"
)

func farmSubmitCommand() *cli.Command {
	return &cli.Command{
		Name:      "submit",
		Usage:     "store the replays of a folder, and queue them for the farm",
		ArgsUsage: "[DIR]",
		Description: `Stores the *.ssr files in DIR and below it, without the logs in a server's folder
"live", and queues a job for each. What the storage has, what is queued and what has a
result of the build is left alone, so an interrupted submit can be repeated. A file
keeps its content: another one of the same name is refused. --archive queues all
replays that the storage has instead, those of the cluster's archive included.

With --rules it also stores the module (samestep rules build), and the workers of that
build take it from the storage: so a patch meets all matches of its game, of any build,
on all machines, and none of them needs another program. It prints the build.`,
		Flags: buildFlags(
			rulesFlag(),
			&cli.BoolFlag{Name: "archive", Usage: "queue the replays in the storage, instead of a folder"},
			&cli.StringFlag{Name: "as", Value: "farm", Usage: "`PREFIX` of the files' names in the storage"},
			&cli.IntFlag{Name: "replicas", Value: 1, Usage: "keep `N` copies, 1, 3 or 5, if this is the first use of the storage"},
		),
		Action: onBuild(storage.OperatorRole, checkSubmit, farmSubmit),
	}
}

// setupTime is the time limit for making what the storage does not have yet.
const setupTime = 30 * time.Second

func checkSubmit(c *cli.Context) error {
	if c.Bool("archive") == c.Args().Present() {
		return tool.Usagef("want either DIR or --archive")
	}
	if c.IsSet("rules") && c.IsSet("build") {
		return tool.Usagef("--build cannot be used with --rules: the build is the sum of the module")
	}
	return nil
}

func farmSubmit(c *cli.Context, conn *storage.Conn, build string) error {
	module, sum, err := rulesOf(c)
	if err != nil {
		return err
	}
	ctx, stop := tool.Interruptible(c)
	defer stop()
	setup, cancel := context.WithTimeout(ctx, setupTime)
	defer cancel()
	if err := conn.Setup(setup, storage.Layout{Replicas: c.Int("replicas")}); err != nil {
		return err
	}
	if module != nil {
		build = sum
		if err := storeRules(setup, conn, module, sum); err != nil {
			return err
		}
	}
	o := farm.SubmitOptions{Build: build, Prefix: c.String("as"), Wait: func(err error) {
		fmt.Fprintf(c.App.ErrWriter, "waiting for the storage: %v\n", err)
	}}
	var sent farm.Submitted
	if c.Bool("archive") {
		sent, err = farm.SubmitArchive(ctx, conn, o)
	} else {
		sent, err = farm.Submit(ctx, conn, c.Args().First(), o)
	}
	if err == nil && sent.Files == 0 {
		return fmt.Errorf("%s: no *.ssr files", c.Args().First())
	}
	return tool.Tell(c, struct {
		Build string `json:"build"`
		farm.Submitted
	}{build, sent}, func(w io.Writer) {
		fmt.Fprintf(w, "build %s: %s, %d uploaded, %d queued, %d with a result\n", build, words.Count(sent.Files, "file"), sent.Uploaded, sent.Queued, sent.Known)
	}, err)
}

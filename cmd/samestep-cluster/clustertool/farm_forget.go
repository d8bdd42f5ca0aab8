//go:build !js

package clustertool

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/internal/words"
)

func farmForgetCommand() *cli.Command {
	return &cli.Command{
		Name:  "forget",
		Usage: "remove the results of a build, and its jobs",
		Description: `Removes what the farm has found with the build of --build, and its jobs in the queue.
The replays stay. Stop the build's workers before: one that is at work stores its result
later. The same build can be submitted again after an hour.`,
		Flags:  buildFlags(),
		Action: onBuild(storage.OperatorRole, checkForget, farmForget),
	}
}

func checkForget(c *cli.Context) error {
	if !c.IsSet("build") {
		return tool.Usagef("want --build NAME, whose results are removed")
	}
	return nil
}

func farmForget(c *cli.Context, conn *storage.Conn, build string) error {
	results, jobs, err := farm.Forget(c.Context, conn, build)
	return tool.Tell(c, struct {
		Build   string `json:"build"`
		Results int    `json:"results"`
		Jobs    int    `json:"jobs"`
	}{build, results, jobs}, func(w io.Writer) {
		fmt.Fprintf(w, "build %s: removed %s and %s\n", build, words.Count(results, "result"), words.Count(jobs, "job"))
	}, err)
}

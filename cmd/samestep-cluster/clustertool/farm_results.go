//go:build !js

package clustertool

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/replay"
)

func farmResultsCommand() *cli.Command {
	return &cli.Command{
		Name:  "results",
		Usage: "print what the farm has found with a build",
		Description: `Prints a line for each file, with --json a line of JSON, in the order in which they
were verified. The exit code is that of the worst, as for replay verify FOLDER.`,
		Flags:  buildFlags(&cli.BoolFlag{Name: "bad", Usage: "leave out files that are ok"}),
		Action: onBuild(storage.OperatorRole, nil, farmResults),
	}
}

// badness orders classes: later ones are worse.
var badness = []replay.Class{
	replay.ClassOK, replay.ClassSuspended, replay.ClassUnsupported, replay.ClassIdentity, farm.ClassMissing, farm.ClassFailed, farm.ClassPoison,
	replay.ClassTorn, replay.ClassLimit, replay.ClassInvalid, replay.ClassCorrupt, replay.ClassDesync,
}

func farmResults(c *cli.Context, conn *storage.Conn, build string) error {
	n, worst := map[replay.Class]int{}, replay.ClassOK
	all := 0
	for r, err := range farm.Results(c.Context, conn, build) {
		if err != nil {
			return err
		}
		all++
		n[r.Class]++
		if slices.Index(badness, r.Class) > slices.Index(badness, worst) {
			worst = r.Class
		}
		if r.Class == replay.ClassOK && c.Bool("bad") {
			continue
		}
		if err := printResult(c, r); err != nil {
			return err
		}
	}
	if !c.Bool("json") {
		if _, err := fmt.Fprintf(c.App.Writer, "%s: %s\n", words.Count(all, "file"), classes(n)); err != nil {
			return err
		}
	}
	if worst != replay.ClassOK {
		return &tool.ClassError{Class: worst, Text: fmt.Sprintf("%d of %s bad; the worst is %s", all-n[replay.ClassOK], words.Plural(all, "file", "is", "are"), worst)}
	}
	return nil
}

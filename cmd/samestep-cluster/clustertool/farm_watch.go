//go:build !js

package clustertool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/replay"
)

func farmWatchCommand() *cli.Command {
	return &cli.Command{
		Name:  "watch",
		Usage: "show how far the farm is with a build, until no job is left",
		Description: `Prints a line now and then every --every: results and all jobs, results per second, the
time that is left at this rate, and the results by class.`,
		Flags: buildFlags(
			&cli.DurationFlag{Name: "every", Value: 2 * time.Second, Usage: "print a line each `TIME`"},
			&cli.BoolFlag{Name: "once", Usage: "print one line"},
		),
		Action: onBuild(storage.OperatorRole, checkWatch, farmWatch),
	}
}

var errOnce = errors.New("one line is enough")

func checkWatch(c *cli.Context) error {
	if c.Duration("every") < 100*time.Millisecond {
		return tool.Usagef("--every: got %v, want at least 100ms", c.Duration("every"))
	}
	return nil
}

func farmWatch(c *cli.Context, conn *storage.Conn, build string) error {
	ctx, stop := tool.Interruptible(c)
	defer stop()
	err := farm.Watch(ctx, conn, build, c.Duration("every"), func(p farm.Progress) error {
		if err := printProgress(c, p); err != nil {
			return err
		}
		if c.Bool("once") {
			return errOnce
		}
		return nil
	})
	if errors.Is(err, errOnce) || ctx.Err() != nil {
		return nil
	}
	return err
}

func printProgress(c *cli.Context, p farm.Progress) error {
	if c.Bool("json") {
		return json.NewEncoder(c.App.Writer).Encode(p)
	}
	left := "unknown"
	if p.PerSecond > 0 || p.Left == 0 {
		left = time.Duration(p.Remaining * float64(time.Second)).Round(time.Second).String()
	}
	_, err := fmt.Fprintf(c.App.Writer, "%d of %d, %d in work, %.1f/s, %s left: %s\n", p.Done, p.Done+p.Left, p.Working, p.PerSecond, left, classes(p.Classes))
	return err
}

// classes returns the numbers of results by class, such as "3 desync, 97 ok".
func classes(n map[replay.Class]int) string {
	if len(n) == 0 {
		return "no results"
	}
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%d %s", n[class], class))
	}
	return strings.Join(parts, ", ")
}

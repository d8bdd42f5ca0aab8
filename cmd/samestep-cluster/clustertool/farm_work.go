//go:build !js

package clustertool

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cluster/farm"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool"
	"github.com/seed-49bee653/samestep/lockstep"
)

func farmWorkCommand() *cli.Command {
	return &cli.Command{
		Name:  "work",
		Usage: "verify replays of the farm with this program's games",
		Description: `Takes jobs of the build from the queue, one after the other, verifies each file as
replay verify does, and stores the result. If the build is the sum of a module of rules
that submit --rules has stored, it verifies with them. Start it on as many machines as you like.
It prints a line for each file, waits while the storage is away, and ends with an
interrupt, or with --until-empty. A file that kills its workers is set aside.`,
		Flags: buildFlags(
			&cli.IntFlag{Name: "jobs", Usage: "work on `N` files at a time (default: one for each processor)"},
			&cli.StringFlag{Name: "name", Usage: "`NAME` of this worker in results (default: the machine and the process)"},
			&cli.UintFlag{Name: "max-ticks", Usage: "refuse to simulate more than `N` ticks (default: as replay verify)"},
			&cli.IntFlag{Name: "max-deliver", Value: 5, Usage: "set a file aside when `N` workers have begun with it and none has finished"},
			&cli.DurationFlag{Name: "ack-wait", Value: 30 * time.Second, Usage: "give the job of a worker that is silent for `TIME` to another"},
			&cli.StringFlag{Name: "temp", Usage: "keep each replay in `FOLDER` while it is verified (default: the system's)"},
			&cli.BoolFlag{Name: "until-empty", Usage: "end when no job is left"},
			tool.AssetsFlag(),
		),
		Action: onBuild(storage.WorkerRole, checkWork, farmWork),
	}
}

func checkWork(c *cli.Context) error {
	if c.Int("jobs") < 0 || c.Int("max-deliver") < 1 || c.Duration("ack-wait") < time.Second {
		return tool.Usagef("--jobs, --max-deliver or --ack-wait is too small, want at least 0, 1 and 1s")
	}
	return nil
}

func farmWork(c *cli.Context, conn *storage.Conn, build string) error {
	ctx, stop := tool.Interruptible(c)
	defer stop()
	game, err := gameOfBuild(c, conn, build)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	return farm.Work(ctx, conn, farm.WorkerOptions{
		Build: build, Name: c.String("name"), Jobs: c.Int("jobs"), MaxTicks: lockstep.Tick(c.Uint("max-ticks")), MaxDeliver: c.Int("max-deliver"),
		AckWait: c.Duration("ack-wait"), Temp: c.String("temp"), UntilEmpty: c.Bool("until-empty"),
		Game: game,
		Done: func(r farm.Result) {
			mu.Lock()
			defer mu.Unlock()
			printResult(c, r)
		},
		Log: slog.New(slog.NewTextHandler(c.App.ErrWriter, nil)),
	})
}

// printResult prints a result as one line.
func printResult(c *cli.Context, r farm.Result) error {
	if c.Bool("json") {
		return json.NewEncoder(c.App.Writer).Encode(r)
	}
	_, err := fmt.Fprintln(c.App.Writer, r)
	return err
}

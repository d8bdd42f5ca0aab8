package tool

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

var (
	delayFlag  = &cli.StringFlag{Name: "delay", Value: "0", Usage: "stay behind the match by ticks, or by a time such as 30s"}
	idleFlag   = &cli.DurationFlag{Name: "idle", Usage: "give up when the file has not grown for `TIME`, as after a crash; 0: never"}
	followFlag = &cli.BoolFlag{Name: "follow", Usage: "wait for more records until the match is over"}
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
		Action: onReplay(followRecords),
	}
}

func liveOptions(c *cli.Context) (replay.LiveOptions, error) {
	o := replay.LiveOptions{Idle: c.Duration("idle")}
	if o.Idle < 0 {
		return o, usagef("--idle: got %v, want at least 0", o.Idle)
	}
	delay := c.String("delay")
	if n, err := strconv.ParseUint(delay, 10, 31); err == nil {
		o.Delay = lockstep.Tick(n)
	} else if o.DelayTime, err = time.ParseDuration(delay); err != nil || o.DelayTime < 0 || o.DelayTime > 24*time.Hour {
		return o, usagef("--delay: got %q, want ticks or a time up to 24h", delay)
	}
	return o, nil
}

// followRecords prints each new record until the match ends or the user interrupts it.
func followRecords(c *cli.Context, f *replayFile) error {
	d := &recordDumper{w: c.App.Writer, json: c.Bool("json"), commands: c.Bool("commands")}
	err := follow(c, f, func(ctx context.Context, l *replay.LiveReader) error {
		for rec, err := range l.All(ctx) {
			if err == nil {
				err = d.record(rec)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// follow opens a growing file for act, until an interrupt.
func follow(c *cli.Context, f *replayFile, act func(context.Context, *replay.LiveReader) error) error {
	o, err := liveOptions(c)
	if err != nil {
		return err
	}
	if f.bundle != nil {
		return usagef("%s is a bundle, which does not grow", f.name)
	}
	l, err := replay.OpenLive(f.name, o)
	if err != nil {
		return err
	}
	defer l.Close()
	ctx, stop := interruptible(c)
	defer stop()
	return act(ctx, l)
}

var errUnfinished = errors.New("interrupted before the match was over")

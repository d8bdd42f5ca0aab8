package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

var (
	delayFlag = &cli.StringFlag{Name: "delay", Value: "0", Usage: "stay so far behind the match: ticks, or a time such as 30s"}
	idleFlag  = &cli.DurationFlag{Name: "idle", Usage: "give up when nothing came for `TIME`, as after a crash; 0: never"}

	followFlag = &cli.BoolFlag{Name: "follow", Usage: "wait for what is yet to come, until the match is over"}
)

func replayFollowCommand() *cli.Command {
	return &cli.Command{
		Name:      "follow",
		Usage:     "print the records of a match while it is played",
		ArgsUsage: "FILE",
		Description: `Prints what dump prints, as it is written, and ends when the match is over. A record
that is torn at the end of the file is waited for; a file that is cut or replaced
before the match is over is an error. The same as dump --follow; verify
--follow verifies the match while it is played.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print JSON, for programs: a value for each record or command, one a line"},
			&cli.BoolFlag{Name: "commands", Usage: "print only the commands"},
			delayFlag, idleFlag,
		},
		OnUsageError: usageError,
		Action:       onReplay(followRecords),
	}
}

// liveOptions are what the flags say.
func liveOptions(c *cli.Context) (replay.LiveOptions, error) {
	o := replay.LiveOptions{Idle: c.Duration("idle")}
	if o.Idle < 0 {
		return o, usagef("%s: --idle: got %v, want at least 0", c.Command.Name, o.Idle)
	}
	delay := c.String("delay")
	if n, err := strconv.ParseUint(delay, 10, 31); err == nil {
		o.Delay = lockstep.Tick(n)
	} else if o.DelayTime, err = time.ParseDuration(delay); err != nil || o.DelayTime < 0 || o.DelayTime > 24*time.Hour {
		return o, usagef("%s: --delay: got %q, want ticks or a time up to 24h", c.Command.Name, delay)
	}
	return o, nil
}

// followRecords prints records as they come. An interrupt ends it, too.
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

// follow opens a file to be followed until it is interrupted.
func follow(c *cli.Context, f *replayFile, act func(context.Context, *replay.LiveReader) error) error {
	o, err := liveOptions(c)
	if err != nil {
		return err
	}
	if f.bundle != nil {
		return usagef("%s: %s is a bundle, which nobody writes any more", c.Command.Name, f.name)
	}
	l, err := replay.OpenLive(f.name, o)
	if err != nil {
		return err
	}
	defer l.Close()
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return act(ctx, l)
}

// errUnfinished is the verdict on a match that was not verified to its end.
var errUnfinished = errors.New("interrupted before the match was over")

// followVerify verifies a match while it is played.
func followVerify(c *cli.Context, f *replayFile) error {
	var header *lockstep.Header
	if err := follow(c, f, func(ctx context.Context, l *replay.LiveReader) error {
		rec, err := l.Next(ctx)
		if err == nil {
			header = rec.Header
		}
		return err
	}); err != nil {
		return err
	}
	game, err := gameOf(header)
	if err != nil {
		return err
	}
	v := &verified{verdict: &desync.Verdict{}}
	from := time.Now()
	err = follow(c, f, func(ctx context.Context, l *replay.LiveReader) error {
		v.Verification, err = replay.VerifyLive(ctx, l, game, replay.VerifyOptions{MaxTicks: maxTicks(c), KeepGoing: c.Bool("keep-going")})
		if r, rerr := l.Reopen(); rerr == nil {
			v.verdict = desync.Attribute(r, game, v.Verification, replay.SimulateOptions{MaxTicks: maxTicks(c)})
		}
		return err
	})
	if errors.Is(err, context.Canceled) {
		err = errUnfinished
	}
	return v.tell(c, header, nil, nil, err, time.Since(from))
}

//go:build !js

package replays

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/replay"
)

var (
	delayFlag  = &cli.StringFlag{Name: "delay", Value: "0", Usage: "stay behind the match by ticks, or by a time such as 30s; 0 shows its operator everything at once (default: as the log says for spectators)", DefaultText: " "}
	idleFlag   = &cli.DurationFlag{Name: "idle", Usage: "give up when the file has not grown for `TIME`, as after a crash; 0: never"}
	followFlag = &cli.BoolFlag{Name: "follow", Usage: "wait for more records until the match is over"}
)

func liveOptions(c *cli.Context) (replay.LiveOptions, error) {
	o := replay.LiveOptions{Idle: c.Duration("idle"), Operator: c.IsSet("delay")}
	if o.Idle < 0 {
		return o, console.Usagef("--idle: got %v, want at least 0", o.Idle)
	}
	delay := c.String("delay")
	if n, err := strconv.ParseUint(delay, 10, 31); err == nil {
		o.Delay = lockstep.Tick(n)
	} else if o.DelayTime, err = time.ParseDuration(delay); err != nil || o.DelayTime < 0 || o.DelayTime > 24*time.Hour {
		return o, console.Usagef("--delay: got %q, want ticks or a time up to 24h", delay)
	}
	return o, nil
}

// follow opens a growing file for act, until an interrupt.
func follow(c *cli.Context, f *replay.File, act func(context.Context, *replay.LiveReader) error) error {
	o, err := liveOptions(c)
	if err != nil {
		return err
	}
	if f.Bundle() != nil {
		return console.Usagef("%s is a bundle, which does not grow", f.Path())
	}
	l, err := replay.OpenLive(f.Path(), o)
	if err != nil {
		return err
	}
	defer l.Close()
	ctx, stop := console.Interruptible(c)
	defer stop()
	return adviseOperator(act(ctx, l))
}

// adviseOperator adds what the owner of a file can do to the error of one that is not for everybody.
func adviseOperator(err error) error {
	if errors.Is(err, disclosure.ErrViews) {
		return fmt.Errorf("%w; --delay 0 shows the file to its owner", err)
	}
	return err
}

var errUnfinished = errors.New("interrupted before the match was over")

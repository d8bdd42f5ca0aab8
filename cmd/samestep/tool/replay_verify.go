//go:build !js

package tool

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/replay"
)

func replayVerifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "simulate a replay again and compare every checksum in it",
		ArgsUsage: "FILE|BUNDLE",
		Description: `Exits with 0 only if the whole match was simulated and every checksum and keyframe
in the file is that of the simulation. If the file is cut short, verify goes up to
the cut, and exits with 4. Of a bundle, it verifies the replay inside, which ends
when the bundle was written. Of an imported match, it only compares the checksums
that players reported with each other.`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.BoolFlag{Name: "keep-going", Usage: "continue after a difference, to tell whether it stays"},
			maxTicksFlag,
			&cli.StringFlag{Name: "key", Usage: "require a signature by the public key in `FILE` (PEM)"},
			&cli.IntFlag{Name: "workers", Usage: "simulate the intervals between keyframes in `N` goroutines (default: one for each processor, fewer for large states)"},
			followFlag, delayFlag, idleFlag,
		},
		Action: onReplay(replayVerify),
	}
}

func replayVerify(c *cli.Context, f *replay.File) error {
	if err := between(c, "workers", 0, 0); err != nil {
		return err
	}
	if c.Bool("follow") {
		if c.IsSet("key") {
			return usagef("--key cannot be used with --follow: a match is signed when it is over")
		}
		return followVerify(c, f)
	}
	var signed *bool // nil without --key
	if c.IsSet("key") {
		signed = new(bool)
		if err := requireKey(c, f); err != nil {
			return refuse(c, err, signed)
		}
		*signed = true
	}
	o, done := simulateOptions(c)
	from := time.Now()
	v, err := desync.Verify(f, gamesOf(c), replay.VerifyOptions{
		MaxTicks: o.MaxTicks, Progress: o.Progress, KeepGoing: c.Bool("keep-going"), Workers: c.Int("workers"),
	})
	done()
	v.Signed, v.Took = signed, time.Since(from)
	return reportVerification(c, v, err)
}

// reportVerification prints a verification. Of a file that was not read to its first state, the error says all.
func reportVerification(c *cli.Context, v *desync.Verification, err error) error {
	if v.Verification == nil && v.Imported == nil {
		return refuse(c, err, v.Signed)
	}
	return report(c, v, err)
}

// requireKey returns an error unless the replay has a signature by the key of --key.
func requireKey(c *cli.Context, f *replay.File) error {
	r, err := f.Reader()
	if err == nil {
		err = verifySignature(r, c.String("key"))
	}
	if err == nil && !c.Bool("json") {
		newLiner(c.App.Writer)("signed", "with the key in %s", shown(c.String("key")))
	}
	return err
}

func followVerify(c *cli.Context, f *replay.File) error {
	var v *desync.Verification
	from := time.Now()
	err := follow(c, f, func(ctx context.Context, l *replay.LiveReader) (err error) {
		v, err = desync.VerifyLive(ctx, l, gamesOf(c), replay.VerifyOptions{MaxTicks: maxTicks(c), KeepGoing: c.Bool("keep-going")})
		return err
	})
	if v == nil {
		return err
	}
	if errors.Is(err, context.Canceled) {
		err = errUnfinished
		v.Err = err
	}
	v.Took = time.Since(from)
	return reportVerification(c, v, err)
}

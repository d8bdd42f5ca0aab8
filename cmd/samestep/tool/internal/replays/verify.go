//go:build !js

package replays

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/replay"
)

func replayInfoCommand() *cli.Command {
	return &cli.Command{
		Name:      "info",
		Usage:     "describe the match and the content of a replay",
		ArgsUsage: "FILE|FOLDER...",
		Description: `Reads the whole file without simulating, so it needs no game code. A damaged file is read
up to the damage. Each keyframe's state is compared with the keyframe's own checksum; to
compare it with the simulation, use verify. A bundle's replay ends when the bundle was
written.

--upto also prints the content hash up to a tick. It is equal for two recordings of one
match, even if one is longer or ends for another reason.` + batchHelp,
		Flags: []cli.Flag{
			console.JSONFlag,
			&cli.UintFlag{Name: "upto", Usage: "also hash the content up to tick `T`", DefaultText: "only the whole match"},
			JobsFlag,
		},
		Action: onReplays(replayInfo, batchInfo),
	}
}

func replayInfo(c *cli.Context, f *replay.File) error {
	r, done, err := gameset.Watched(c, f)
	if err != nil {
		return console.Refuse(c, err, nil)
	}
	Frugal()
	info, _ := replay.ReadInfo(r)
	err = ofBundle(f, info)
	done()
	if info.Header == nil {
		return console.Refuse(c, err, nil)
	}
	if c.IsSet("upto") {
		tick := gameset.TickOf(c, "upto")
		if len(info.Keyframes) == 0 || tick < info.Keyframes[0].Tick || tick > info.Ticks {
			return console.Usagef("--upto: got tick %d, want a tick in the readable part of the file, at most %d", tick, info.Ticks)
		}
		again, err := f.Reader()
		if err != nil {
			return err
		}
		h, _, err := replay.HashContent(again, tick)
		if err != nil {
			return err
		}
		info.UpTo = &replay.PartHash{Tick: tick, ContentHash: h}
	}
	return gameset.Report(c, info, err)
}

// ofBundle returns the error of an Info, without that of a replay in a bundle that only ends early.
func ofBundle(f *replay.File, info *replay.Info) error {
	if info.Header != nil {
		info.Err = unlessBundled(f, info.Err)
	}
	return info.Err
}

// unlessBundled returns err, but nil if it says that the replay in a bundle ends early: its match went on.
func unlessBundled(f *replay.File, err error) error {
	if f.Bundle() != nil && replay.ClassOf(err).Early() {
		return nil
	}
	return err
}

// batchInfo describes each file as [replayInfo] does.
func batchInfo(c *cli.Context, b *Batch) error {
	if c.IsSet("upto") {
		return console.Usagef("--upto takes one file, not several or a folder")
	}
	return b.run(c, func(f *replay.File, _ BatchInput) BatchRow {
		info, _ := f.Info()
		err := ofBundle(f, info)
		if info.Header == nil {
			return BatchRow{Err: err}
		}
		return BatchRow{value: info, text: fmt.Sprintf("%q, build %q, %s, %s", info.Header.Game, info.Header.Build, console.Count(info.Ticks, "tick"), console.Size(info.SizeBytes)), Err: err}
	})
}

func replayVerifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "simulate a replay again and compare every checksum in it",
		ArgsUsage: "FILE|BUNDLE|FOLDER...",
		Description: `Exits with 0 only if the whole match was simulated and every checksum and keyframe in the
file is that of the simulation. A file that is cut short is verified up to the cut, and
the exit code is 4, or 0 if a server suspended the match there. Of a bundle, verify
verifies the replay, which ends when the bundle was written. An imported match cannot be
simulated: the checksums of its players are compared with each other.

A match that began in a state of another match (samestep serve --from) names this parent.
verify looks for the parent in the folder of the file and in --parent, compares the first
state with the parent's, and goes on with the parent's parent. It says which parents it
did not find. With --follow it does so after the end of the match.` + batchHelp,
		Flags: []cli.Flag{
			console.JSONFlag,
			&cli.BoolFlag{Name: "keep-going", Usage: "continue after a difference, to tell whether it stays"},
			gameset.MaxTicksFlag, gameset.AssetsFlag,
			&cli.StringSliceFlag{Name: "parent", Usage: "look for the parent of the match in `FILE|FOLDER`, too"},
			&cli.StringFlag{Name: "key", Usage: "require a signature by the public key in `FILE` (PEM)"},
			&cli.IntFlag{Name: "workers", Usage: "simulate the intervals between keyframes in `N` goroutines", DefaultText: "one for each processor, fewer for large states"},
			followFlag, delayFlag, idleFlag, JobsFlag,
		},
		Action: onReplays(replayVerify, batchVerify),
	}
}

func replayVerify(c *cli.Context, f *replay.File) error {
	if err := console.Between(c, "workers", 0, 0); err != nil {
		return err
	}
	if c.Bool("follow") {
		if c.IsSet("key") {
			return console.Usagef("--key cannot be used with --follow: a match is signed when it is over")
		}
		return followVerify(c, f)
	}
	o, done := gameset.SimulateOptions(c)
	v, err := verifySigned(c, f, c.Int("workers"), o.Progress)
	done()
	if v.Signed != nil && *v.Signed && !c.Bool("json") {
		console.NewLiner(c.App.Writer)("signed", "with the key in %s", console.Shown(c.String("key")))
	}
	return reportVerification(c, v, err)
}

func verifyOptions(c *cli.Context, f *replay.File) replay.VerifyOptions {
	return replay.VerifyOptions{MaxTicks: gameset.MaxTicks(c), KeepGoing: c.Bool("keep-going"), Now: time.Now, Apart: gameset.ApartFor(c, f)}
}

// verifySigned verifies a replay, after the signature that --key requires. The result is never nil.
func verifySigned(c *cli.Context, f *replay.File, workers int, progress func(done, all lockstep.Tick)) (*desync.Verification, error) {
	var signed *bool // nil without --key
	if c.IsSet("key") {
		signed = new(bool)
		key, err := ReadKey[ed25519.PublicKey](c.String("key"), "PUBLIC KEY", x509.ParsePKIXPublicKey)
		var r *replay.Reader
		if err == nil {
			r, err = f.Reader()
		}
		if err == nil {
			err = replay.VerifySignature(r, key)
		}
		if err != nil {
			return &desync.Verification{Signed: signed, Err: err}, err
		}
		*signed = true
	}
	games, err := gameset.GamesFor(c, f)
	if err != nil {
		return &desync.Verification{Signed: signed, Err: err}, err
	}
	o := verifyOptions(c, f)
	o.Workers, o.Progress = workers, progress
	v, err := desync.Verify(f, games, o)
	v.Signed = signed
	return v, followLineage(c, f, v, err, progress)
}

// followLineage compares the first state of a verified match with its parent, and so on. It returns the error of the verification.
func followLineage(c *cli.Context, f *replay.File, v *desync.Verification, err error, progress func(done, all lockstep.Tick)) error {
	if v.Verification != nil {
		dir := filepath.Dir(f.Path())
		places := append(slices.Clone(c.StringSlice("parent")), dir)
		if filepath.Base(dir) == LiveFolder { // of a server
			places = append(places, filepath.Dir(dir))
		}
		game := func(parent *replay.File) (*lockstep.Game, error) { return gameset.GameOf(c, parent) }
		err = v.FollowLineage(f, game, places, replay.SimulateOptions{MaxTicks: gameset.MaxTicks(c), Progress: progress})
	}
	if err == nil {
		gameset.ModulesOf(c).Complete(f)
	}
	return err
}

// reportVerification prints a verification. Of a file that was not read to its first state, the error says all.
func reportVerification(c *cli.Context, v *desync.Verification, err error) error {
	if v.Verification == nil && v.Imported == nil {
		return console.Refuse(c, err, v.Signed)
	}
	return gameset.Report(c, v, err)
}

func followVerify(c *cli.Context, f *replay.File) error {
	var v *desync.Verification
	games, err := gameset.GamesFor(c, f)
	if err != nil {
		return console.Refuse(c, err, nil)
	}
	err = follow(c, f, func(ctx context.Context, l *replay.LiveReader) (err error) {
		v, err = desync.VerifyLive(ctx, l, games, verifyOptions(c, f))
		return err
	})
	if v == nil {
		return err
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted before the match was over")
		v.Err = err
	}
	return reportVerification(c, v, followLineage(c, f, v, err, nil))
}

// batchVerify verifies each file as [replayVerify] does.
func batchVerify(c *cli.Context, b *Batch) error {
	if c.IsSet("follow") {
		return console.Usagef("--follow takes one file, not several or a folder")
	}
	if err := console.Between(c, "workers", 0, 0); err != nil {
		return err
	}
	return b.run(c, func(f *replay.File, _ BatchInput) BatchRow {
		v, err := verifySigned(c, f, cmp.Or(c.Int("workers"), runtime.GOMAXPROCS(0)/b.Jobs, 1), nil)
		row := BatchRow{value: v, Err: err}
		if v.Verification != nil {
			row.text = fmt.Sprintf("%s, %s", console.Count(v.Ticks-v.Began, "tick"), console.Count(v.Checked, "checksum"))
		} else if v.Imported != nil {
			row.text = fmt.Sprintf("%s, %s that players reported compared, %d not", console.Count(v.Imported.Ticks, "tick"), console.Count(v.Imported.Checks, "check"), v.Imported.Alone)
		}
		return row
	})
}

var (
	delayFlag  = &cli.StringFlag{Name: "delay", Value: "0", Usage: "stay behind the match by ticks, or by a time such as 30s; 0 shows its operator everything at once (default: as the log says for spectators)", DefaultText: " "}
	idleFlag   = &cli.DurationFlag{Name: "idle", Usage: "give up when the file has not grown for `TIME`, such as after a crash; 0: never"}
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

// bundleGrows is the error of following a bundle.
func bundleGrows(path string) error {
	return console.Usagef("%s is a bundle, which does not grow", path)
}

// follow opens a growing file for act, until an interrupt.
func follow(c *cli.Context, f *replay.File, act func(context.Context, *replay.LiveReader) error) error {
	o, err := liveOptions(c)
	if err != nil {
		return err
	}
	if f.Bundle() != nil {
		return bundleGrows(f.Path())
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

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// The exit codes, as exitTable explains them.
const (
	exitOK       = 0
	exitError    = 1
	exitUsage    = 2
	exitDesync   = 3
	exitCorrupt  = 4
	exitIdentity = 5
)

const exitTable = `Exit codes:
  0  all is well
  1  the operation failed (a file cannot be opened, …), or vet or simulate has findings
  2  the command line is wrong
  3  checksums differ: a desync, or fuzz has found how to make one
  4  the file is corrupt or cut short
  5  the file is of another game, build or schema`

// errDiffered ends a live match whose checksums were not all our own.
var errDiffered = errors.New("checksums of the match were not ours: a desync")

// errFound ends fuzzing that has found something.
var errFound = errors.New("a match of this seed is not computed the same in every way")

// errUsage is wrapped by errors of the command line.
var errUsage = errors.New("usage")

func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

// exitCode returns the exit code that tells of err.
func exitCode(err error) int {
	var (
		desync   *lockstep.DesyncError
		damage   *replay.DamageError
		identity *lockstep.IdentityError
	)
	switch {
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.As(err, &desync), errors.Is(err, errDiffered), errors.Is(err, errDisagreed), errors.Is(err, errFound), errors.Is(err, errDiffers):
		return exitDesync
	case errors.As(err, &damage), errors.Is(err, replay.ErrSignature), errors.Is(err, replay.ErrBundle), errors.Is(err, matchlog.ErrMalformed):
		return exitCorrupt
	case errors.As(err, &identity):
		return exitIdentity
	}
	return exitError
}

// errInterrupted ends what somebody has ended.
var errInterrupted = errors.New("interrupted")

// interruptible returns a context that the first interrupt ends, so that what
// was found until then is told. The second one ends the program.
func interruptible(c *cli.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

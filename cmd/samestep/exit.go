package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/internal/testing/matchlog"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// The exit codes, as exitTable explains them.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitDesync      = 3
	exitCorrupt     = 4
	exitIdentity    = 5
	exitUnsupported = 6
)

const exitTable = `Exit codes:
  0  all is well
  1  the operation failed (a file cannot be opened, …), or vet or simulate has findings
  2  the command line is wrong
  3  checksums differ: a desync, or fuzz has found how to make one
  4  the file is cut short or corrupt, breaks a rule of its format, or exceeds a limit
  5  the file is of another game, build or schema
  6  the file needs a newer reader: its version, a flag, a block or a record is not known`

// errDiffered ends a live match whose checksums were not all our own.
var errDiffered = errors.New("checksums of the match were not ours: a desync")

// errFound ends fuzzing that has found something.
var errFound = errors.New("a match of this seed is not computed the same in every way")

// errUsage is wrapped by errors of the command line.
var errUsage = errors.New("usage")

func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

// A fileError is the error of a file that was read. Only such an error and those
// of package replay judge a file: a connection may end too early as well.
type fileError struct {
	name string
	err  error
}

func (e *fileError) Error() string { return fmt.Sprintf("%s: %v", e.name, e.err) }

func (e *fileError) Unwrap() error { return e.err }

// classOf returns the class of the file that err judges, or nothing if it judges
// none.
func classOf(err error) replay.Class {
	var (
		file     *fileError
		damage   *replay.DamageError
		desync   *lockstep.DesyncError
		identity *lockstep.IdentityError
		reports  *reportsError
	)
	switch {
	case errors.Is(err, errUsage):
		return ""
	case isAny(err, errDiffered, errDisagreed, errFound, errDiffers, errExplained):
		return replay.ClassDesync
	case errors.Is(err, matchlog.ErrMalformed) && !errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &reports):
		return replay.ClassInvalid
	case err == nil, errors.As(err, &file), errors.As(err, &damage), errors.As(err, &desync), errors.As(err, &identity),
		isAny(err, replay.ErrLimit, replay.ErrSignature, replay.ErrBundle):
		return replay.ClassOf(err)
	}
	return ""
}

// fileClass is classOf of an error of reading a file, before it has the name.
func fileClass(err error) replay.Class {
	if err == nil {
		return replay.ClassOK
	}
	return classOf(&fileError{err: err})
}

// refuse prints the class of a file of which nothing else can be told, for
// programs, and returns err. Signed is nil unless a signature was asked for.
func refuse(c *cli.Context, err error, signed *bool) error {
	class := fileClass(err)
	if !c.Bool("json") || class == "" {
		return err
	}
	if werr := writeJSON(c.App.Writer, struct {
		Class  replay.Class `json:"class"`
		Signed *bool        `json:"signed,omitempty"`
		Error  string       `json:"error"`
	}{class, signed, err.Error()}); werr != nil {
		return werr
	}
	return err
}

// isAny reports whether err is one of several.
func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
}

// exitCode returns the exit code that tells of err.
func exitCode(err error) int {
	if errors.Is(err, errUsage) {
		return exitUsage
	}
	switch classOf(err) {
	case replay.ClassOK:
		return exitOK
	case replay.ClassDesync:
		return exitDesync
	case replay.ClassTorn, replay.ClassCorrupt, replay.ClassInvalid, replay.ClassLimit:
		return exitCorrupt
	case replay.ClassIdentity:
		return exitIdentity
	case replay.ClassUnsupported:
		return exitUnsupported
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

//go:build !js

// Package console has what all verbs share towards the user: exit codes and the errors that lead to them, output and progress, arguments,
// flags and settings files, help, and what the process knows of itself. It knows no game.
package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
)

// The exit codes, as ExitTable explains them.
const (
	ExitOK          = 0
	ExitError       = 1
	ExitUsage       = 2
	ExitDesync      = 3
	ExitCorrupt     = 4
	ExitIdentity    = 5
	ExitUnsupported = 6
	ExitPanic       = 7
)

// ExitTable explains the exit codes.
const ExitTable = `Exit codes:
  0  success
  1  the operation failed (a file cannot be opened, there is nothing to compare, …),
     or vet or simulate has findings
  2  the command line is wrong
  3  checksums differ: a desync, or fuzz or --heavy has found a match that can desync
  4  the file, or a module of rules, is cut short or corrupt, breaks a rule of its
     format, or exceeds a limit
  5  the file is of another game, build or schema, or its module of rules is missing
  6  the file needs a newer reader: its version, a flag, a block or a record is unknown
  7  the rules panicked: in the match that the file is of, here in one of its ticks,
     on the server of a match that was joined, or in a match of fuzz`

// Results of verbs, which decide the exit code.
var (
	ErrUndecided   = errors.New("the players' checksums differ, and none has a majority: a desync")               // join, whose own checksum was among them
	ErrDiffered    = errors.New("our state differed from that of the match: a desync")                            // join
	ErrTwins       = errors.New("our state differed from a restored copy of it: a desync of those who join late") // join --heavy
	ErrFound       = errors.New("the match of this seed has different results when computed in different ways")   // fuzz
	ErrGolden      = errors.New("a golden match has another result")                                              // golden
	ErrDiffers     = errors.New("they differ")                                                                    // a comparison
	ErrStuck       = errors.New("neither side ends the tick, and they do not differ")                             // two sides that do the same
	ErrPanicked    = &ClassError{replay.ClassPanic, "the rules panic in this tick"}                               // a single tick
	ErrExplained   = errors.New("a desync, explained")                                                            // desync explain, after it has printed its explanation
	ErrViolated    = errors.New("an invariant was violated")                                                      // simulate
	ErrInterrupted = errors.New("interrupted")                                                                    // any verb
)

// EndedByPanic returns the result of join if a panic of the rules on the server ended the match, by the reason that the server gives, or nil.
func EndedByPanic(reason string) error {
	if !saidPanic.MatchString(reason) {
		return nil
	}
	return &ClassError{replay.ClassPanic, "the rules panicked on the server, as it says: its folder has the replay and a bundle, for desync explain"}
}

// saidPanic matches the text of a [lockstep.PanicError].
var saidPanic = regexp.MustCompile(`^lockstep: tick \d+: the game panicked in \w+: `)

// A FileError is an error of reading a file. Only it and errors of package replay describe a file; a connection can also end too early.
type FileError struct {
	Name string
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("%s: %v", e.Name, e.Err) }

func (e *FileError) Unwrap() error { return e.Err }

// A ClassError is a verdict on files, which decides the exit code.
type ClassError struct {
	Class replay.Class
	Text  string
}

func (e *ClassError) Error() string { return e.Text }

// ClassOf returns the class of the file that err is about, or nothing if it is not about a file.
func ClassOf(err error) replay.Class {
	var (
		fault    = FaultIn(err)
		file     *FileError
		damage   *replay.DamageError
		differs  *lockstep.DesyncError
		identity *lockstep.IdentityError
		reports  *bisect.ReportsError
		verdict  *ClassError
	)
	switch {
	case IsUsage(err):
		return ""
	case errors.As(err, &verdict):
		return verdict.Class
	case IsAny(err, ErrDiffered, ErrTwins, ErrUndecided, desync.ErrDisagreed, desync.ErrUnfixed, ErrFound, ErrGolden, ErrDiffers, ErrExplained):
		return replay.ClassDesync
	case replay.ClassOf(err) == replay.ClassPanic && (fault == nil || !fault.Limit):
		return replay.ClassPanic
	case errors.Is(err, wasm.ErrLimit), fault != nil && fault.Limit:
		return replay.ClassLimit
	case IsAny(err, matchlog.ErrUnsupported, abi.ErrUnsupported):
		return replay.ClassUnsupported
	case IsAny(err, wasm.ErrMalformed, wasm.ErrImports), fault != nil:
		return replay.ClassInvalid
	case errors.Is(err, matchlog.ErrMalformed) && !errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &reports):
		return replay.ClassInvalid
	case err == nil, errors.As(err, &file), errors.As(err, &damage), errors.As(err, &differs), errors.As(err, &identity),
		IsAny(err, replay.ErrLimit, replay.ErrSignature, replay.ErrBundle, replay.ErrUnsupported):
		return replay.ClassOf(err)
	}
	return ""
}

// FaultIn returns the fault of a module of rules in err, or nil.
func FaultIn(err error) (fault *abi.Fault) {
	if p := (*lockstep.PanicError)(nil); errors.As(err, &p) {
		fault, _ = p.Value.(*abi.Fault)
		return fault
	}
	errors.As(err, &fault)
	return fault
}

// fileClass is ClassOf for an error of reading a file that does not name the file yet.
func fileClass(err error) replay.Class {
	if err == nil {
		return replay.ClassOK
	}
	return ClassOf(&FileError{Err: err})
}

// Refuse returns err. With --json it first prints the class of the file. signed is nil unless --key asks for a signature.
func Refuse(c *cli.Context, err error, signed *bool) error {
	class := fileClass(err)
	if !c.Bool("json") || class == "" {
		return err
	}
	if werr := WriteJSON(c.App.Writer, struct {
		Class  replay.Class `json:"class"`
		Signed *bool        `json:"signed,omitempty"`
		Error  string       `json:"error"`
	}{class, signed, err.Error()}); werr != nil {
		return werr
	}
	return err
}

// IsAny reports whether an error is one of several.
func IsAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
}

// ExitCode returns the exit code of an error, or ExitOK for nil.
func ExitCode(err error) int {
	if IsUsage(err) {
		return ExitUsage
	}
	switch ClassOf(err) {
	case replay.ClassOK, replay.ClassSuspended:
		return ExitOK
	case replay.ClassDesync:
		return ExitDesync
	case replay.ClassTorn, replay.ClassCorrupt, replay.ClassInvalid, replay.ClassLimit:
		return ExitCorrupt
	case replay.ClassIdentity:
		return ExitIdentity
	case replay.ClassUnsupported:
		return ExitUnsupported
	case replay.ClassPanic:
		return ExitPanic
	}
	return ExitError
}

// Where a command keeps the context of the calls of modules, and what ends it, see [Interruptible].
const (
	CallsKey    = "calls"
	EndCallsKey = "end-calls"
)

// Interruptible returns a context that the first interrupt ends, with all calls of modules. A second interrupt ends the program.
func Interruptible(c *cli.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
	interrupted := context.AfterFunc(ctx, func() {
		stop()
		if end, ok := c.App.Metadata[EndCallsKey].(context.CancelFunc); ok {
			end()
		}
	})
	return ctx, func() {
		interrupted() // the calls after the verb's loop go on
		stop()
	}
}

// MainFolder is the folder of the program's package main, or "" if it is not on this machine. tool.Run sets it.
var MainFolder string

// FindMain returns the folder of the caller's function main.
func FindMain() string {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if frame.Function == "main.main" && filepath.IsAbs(frame.File) { // not if it was built with -trimpath
			if _, err := os.Stat(frame.File); err == nil {
				return filepath.Dir(frame.File)
			}
		}
		if !more {
			return ""
		}
	}
}

// MainPackage returns the path of the program's package main, in MainFolder if that is known.
func MainPackage() string {
	if MainFolder != "" {
		return "."
	}
	return cmp.Or(MainPath(), Module+"/cmd/samestep")
}

// MainPath returns the import path of the program's package main, or "" if it is not known.
func MainPath() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || strings.HasSuffix(info.Path, ".test") || info.Path == "command-line-arguments" {
		return ""
	}
	return info.Path
}

// IsProgram says that this process is the program of tool.Main, so that it can start itself.
var IsProgram bool

// Module is the import path of the engine.
const Module = "github.com/seed-49bee653/samestep"

var aborting sync.Mutex

// Abort ends the program because a function of the game panicked outside of the rules: with a sentence that says which, and then the stack.
// In another process than the program's it panics with both.
func Abort(sentence string, stack []byte) {
	if !IsProgram {
		panic(fmt.Sprintf("%s\n\n%s", sentence, stack))
	}
	aborting.Lock() // for ever: other goroutines may panic too
	fmt.Fprintf(words.NewCleaner(os.Stderr), "%s: %s\n\n%s", filepath.Base(os.Args[0]), sentence, stack)
	os.Exit(ExitError)
}

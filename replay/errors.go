package replay

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// Errors of a replay file, wrapped with the place.
var (
	// ErrFormat: the file does not begin like a replay.
	ErrFormat = errors.New("not a replay")

	// ErrUnsupported: a version, flag, block or record that this code does not know and must not skip.
	ErrUnsupported = errors.New("this file needs a newer samestep")

	// ErrCorrupt: a check, a sum or the form of the bytes is wrong.
	ErrCorrupt = errors.New("corrupt")

	// ErrInvalid: the checks are right, but the content breaks a rule of the format.
	ErrInvalid = errors.New("invalid")

	// ErrLimit: more ticks than the caller allows, or more bytes than the format does. A few bytes can claim a thousand million.
	ErrLimit = errors.New("too long")
)

// A DamageError says where a replay file becomes unreadable. It wraps [io.ErrUnexpectedEOF] if the file only ends too early,
// [ErrCorrupt] if there is more after the damage or the last block was changed, or else [ErrInvalid], [ErrLimit], [ErrUnsupported] or
// [ErrFormat]; see [ClassOf].
type DamageError struct {
	Offset int64         // of the block, in bytes
	Tick   lockstep.Tick // the last readable tick before it
	Next   int64         // offset of the next valid batch or segment, 0 if there is none
	Err    error

	// NextTick is the tick before the next valid block: the ticks from Tick+1 up to it are lost. It is 0 if the block does not say.
	NextTick lockstep.Tick
}

func (e *DamageError) Error() string {
	s := fmt.Sprintf("replay: at byte %d, after tick %d: %v", e.Offset, e.Tick, e.Err)
	if e.Next > 0 {
		after := ""
		if e.NextTick > 0 {
			after = fmt.Sprintf(", after tick %d", e.NextTick)
		}
		s += fmt.Sprintf(" (readable again from byte %d%s)", e.Next, after)
	}
	return s
}

// Unwrap returns Err.
func (e *DamageError) Unwrap() error { return e.Err }

// A TickError says that a replay lacks a tick. It has ticks First to Last.
type TickError struct {
	Tick, First, Last lockstep.Tick
	Panic             *Panic // of the rules in the tick, if the file has one, so it has no state of it
}

func (e *TickError) Error() string { return "replay: " + e.Text() }

// Text returns the words of the error, without the name of the package.
func (e *TickError) Text() string {
	s := fmt.Sprintf("tick %d: the replay has ticks %d to %d", e.Tick, e.First, e.Last)
	if e.Panic != nil {
		s += fmt.Sprintf("; the rules panicked in %s of tick %d, which replay step computes again", e.Panic.Where, e.Tick)
	}
	return s
}

// ErrNoGame: the state must be simulated, but the game's code is missing.
var ErrNoGame = errors.New("no keyframe, and the game's code is missing")

// ErrReplaced: a followed file became shorter, or its name became another file's, before the match was over.
var ErrReplaced = errors.New("the file was cut or replaced while it was followed")

// ErrIdle: nothing new came for the time that the options say.
var ErrIdle = errors.New("no new records")

// ErrBundle is wrapped by the errors of [OpenBundle], but for those of another format, which wrap [ErrUnsupported].
var ErrBundle = errors.New("replay: not a bundle")

// ErrSignature is wrapped by the error of a file that has no signature of the key, or was changed after it.
var ErrSignature = errors.New("signature check failed")

// ErrDiskFull is wrapped by the error of a Writer that ran out of room. The file is whole, up to a torn block at the end.
var ErrDiskFull = errors.New("the disk is full")

// ErrLocked: another program writes the file.
var ErrLocked = errors.New("another program is writing it")

// A Panic is a panic of the rules that a file has, or that [Verify] has met in a tick of the file.
type Panic struct {
	Tick     lockstep.Tick `json:"tick"`             // the tick that the rules did not compute
	Where    string        `json:"where"`            // "Step", or "Validate"
	Text     string        `json:"text"`             // what they panicked with
	Stack    string        `json:"stack,omitempty"`  // as in the file, or else here
	Commands int           `json:"commands"`         // of the tick
	Recorded bool          `json:"recorded"`         // the file has it
	Computed bool          `json:"computed"`         // the tick was computed again here
	Again    bool          `json:"again"`            // and the rules panicked in it
	Here     string        `json:"here,omitempty"`   // with what the rules here panic, if they do
	Passed   bool          `json:"passed,omitempty"` // of a player's machine: the server computed the tick in the match, and its rules did not panic

	fault *lockstep.PanicError // of an unrecorded one
}

// Error says what the file has, and what has come of it here and on the server.
func (p *Panic) Error() string {
	if p.Passed {
		return p.outcome() + "; the server computed the tick in the match, and its rules did not panic"
	}
	return p.outcome()
}

// Unwrap returns the panic here that no record tells of, or nil.
func (p *Panic) Unwrap() error {
	if p.fault == nil {
		return nil
	}
	return p.fault
}

func (p *Panic) outcome() string {
	s := fmt.Sprintf("tick %d: the rules panicked in %s: %s", p.Tick, p.Where, cmp.Or(p.Text, "the text is left out"))
	switch {
	case !p.Recorded:
		return fmt.Sprintf("tick %d: the rules panic here in %s: %s; the file has no record of a panic", p.Tick, p.Where, p.Here)
	case !p.Computed:
		return s
	case !p.Again:
		return s + "; computed again here, they do not panic"
	case p.Here != p.Text:
		return s + "; computed again here, they panic with " + p.Here
	}
	return s + "; computed again here, they panic in the same way"
}

// NewPanic returns the panic in a record of a file.
func NewPanic(rec *record.Record) *Panic {
	return &Panic{Tick: rec.Panic.Frame.Tick, Where: rec.Panic.Where, Text: rec.Panic.Text, Stack: rec.Panic.Stack, Commands: len(rec.Panic.Frame.Commands), Recorded: true}
}

// A Class is the verdict on a file in one word, for programs.
type Class string

// The classes of files. An error that says nothing about the file has an empty class.
const (
	ClassOK          Class = "ok"          // the file is whole and keeps every rule
	ClassDesync      Class = "desync"      // the file is well formed, but checksums contradict each other or the simulation
	ClassPanic       Class = "panic"       // the file has a panic of the rules, or the rules panic in one of its ticks
	ClassTorn        Class = "torn"        // the file ends inside a block or without an end record; everything before is good
	ClassSuspended   Class = "suspended"   // the file ends where a server that stopped suspended the match; it is whole so far
	ClassCorrupt     Class = "corrupt"     // a check, a sum or the form of the bytes is wrong
	ClassInvalid     Class = "invalid"     // the checks are right, but the content breaks a rule of the format
	ClassLimit       Class = "limit"       // the file exceeds a limit of the format
	ClassUnsupported Class = "unsupported" // a version, flag or kind that this reader does not know and must not skip
	ClassIdentity    Class = "identity"    // the file is of another game, build or schema
)

// Early reports whether a file of the class only ends before its match: more may follow, and what there is of it is good.
func (c Class) Early() bool { return c == ClassTorn || c == ClassSuspended }

// A suspendedError is why a file has no end whose last record says that a server suspended the match.
type suspendedError struct{}

func (suspendedError) Error() string {
	return "the match is suspended here, and a server can resume it"
}

func (suspendedError) Unwrap() error { return io.ErrUnexpectedEOF }

// ClassOf returns the class of an error of this package or of a [lockstep.Follower] of a replay: [ClassOK] for nil, and "" if err says
// nothing about the file, such as a failed disk or a missing tick.
func ClassOf(err error) Class {
	var (
		desync   *lockstep.DesyncError
		fault    *lockstep.PanicError
		identity *lockstep.IdentityError
		content  *state.DecodeError
		damage   *DamageError
	)
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
	switch {
	case err == nil:
		return ClassOK
	case errors.As(err, &desync):
		return ClassDesync
	case errors.As(err, new(*Panic)), errors.As(err, &fault) && (fault.Where == record.InStep || fault.Where == record.InValidate || fault.Where == "Derive"):
		return ClassPanic
	case errors.As(err, &identity):
		return ClassIdentity
	case is(ErrUnsupported):
		return ClassUnsupported
	case is(ErrLimit):
		return ClassLimit
	case is(ErrInvalid, ErrSignature):
		return ClassInvalid
	case is(ErrCorrupt, ErrBundle): // before io.ErrUnexpectedEOF: a record inside a block may end too early
		return ClassCorrupt
	case is(record.ErrUnknownRecord):
		return ClassUnsupported
	case errors.As(err, &content), is(record.ErrMalformed, record.ErrOutOfPlace, record.ErrContent, record.ErrUnknownKind, lockstep.ErrGap):
		return ClassInvalid
	case is(suspendedError{}):
		return ClassSuspended
	case is(io.ErrUnexpectedEOF, ErrIdle, ErrReplaced): // what was read of it is good
		return ClassTorn
	case is(ErrFormat), errors.As(err, &damage):
		return ClassCorrupt
	}
	return ""
}

// ofRecord returns the sentinel for the error of a record in a block with a right check.
func ofRecord(err error) error {
	switch {
	case errors.Is(err, record.ErrUnknownRecord):
		return ErrUnsupported
	case errors.Is(err, record.ErrOutOfPlace), errors.Is(err, record.ErrContent):
		return ErrInvalid
	case errors.Is(err, pack.ErrLimit):
		return ErrLimit
	}
	return ErrCorrupt
}

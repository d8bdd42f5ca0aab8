package replay

import (
	"errors"
	"io"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

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

// ClassOf returns the class of an error of this package, or of a [lockstep.Follower] of a replay. The class of nil is
// [ClassOK]. The class is empty if err says nothing about the file, for example if the disk failed or the replay lacks
// a tick.
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
	case errors.As(err, &content), is(record.ErrMalformed, record.ErrOutOfPlace, record.ErrContent, record.ErrUnknownKind, lockstep.ErrGap, lockstep.ErrRepeat):
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

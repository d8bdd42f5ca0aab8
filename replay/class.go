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

// A Class is the verdict on a file in one word, as programs print it.
type Class string

// The classes of files. An error that says nothing about a file has none: its class is empty.
const (
	ClassOK          Class = "ok"          // the file is whole and keeps every rule
	ClassDesync      Class = "desync"      // the file is well formed, and checksums contradict each other or the simulation
	ClassTorn        Class = "torn"        // the file ends inside a block or without an end record; everything before is good
	ClassCorrupt     Class = "corrupt"     // a check, a sum or the form of the bytes is wrong
	ClassInvalid     Class = "invalid"     // the checks hold, and the content breaks a rule of the format
	ClassLimit       Class = "limit"       // the file exceeds a limit of docs/limits.md
	ClassUnsupported Class = "unsupported" // a version, a flag or a kind that this reader does not know and must not pass over
	ClassIdentity    Class = "identity"    // the file is of another game, build or schema
)

// ClassOf returns the class of an error of this package, or of a [lockstep.Follower] that a replay was played into. The
// class of nil is [ClassOK]. The class is empty if err does not judge the file, for example because the disk failed or
// the replay does not have a tick.
func ClassOf(err error) Class {
	var (
		desync   *lockstep.DesyncError
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
	case errors.As(err, &identity):
		return ClassIdentity
	case is(ErrUnsupported):
		return ClassUnsupported
	case is(ErrLimit):
		return ClassLimit
	case is(ErrInvalid, ErrSignature):
		return ClassInvalid
	case is(ErrCorrupt, ErrBundle, ErrReplaced): // before io.ErrUnexpectedEOF: a record inside a block may end too early
		return ClassCorrupt
	case is(record.ErrUnknownRecord):
		return ClassUnsupported
	case errors.As(err, &content), is(record.ErrMalformed, record.ErrOutOfPlace, record.ErrContent, record.ErrUnknownKind, lockstep.ErrGap, lockstep.ErrRepeat):
		return ClassInvalid
	case is(io.ErrUnexpectedEOF, ErrIdle):
		return ClassTorn
	case is(ErrFormat), errors.As(err, &damage):
		return ClassCorrupt
	}
	return ""
}

// ofRecord returns the sentinel for the error of a record. The check of the record's block holds.
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

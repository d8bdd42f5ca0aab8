package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	magic      = "\x89SSR\r\n\x1a\n"
	version    = 1
	prefixSize = 32
	checkSize  = 8

	blockBatch     = 1  // a batch of records
	blockSegment   = 2  // a segment: compressed records
	firstOptional  = 64 // readers skip unknown kinds from here on
	blockIndex     = 64 // where the keyframes are
	blockSignature = 65 // of the content
	blockRules     = 66 // of the match
)

// maxGathered is how many bytes of records make the Writer write a segment, even without a keyframe.
const maxGathered = 1 << 20

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

	// ErrLimit: more ticks than the caller allows, or more bytes than a limit of the format. A few bytes of a hostile
	// file can claim a thousand million.
	ErrLimit = errors.New("too long")
)

// A DamageError says where a replay file becomes unreadable. It wraps [io.ErrUnexpectedEOF] if the file only ends too
// early, [ErrCorrupt] if there is more after the damage or the last block was changed, [ErrInvalid] if the content
// breaks a rule, [ErrLimit] if it exceeds a limit, [ErrUnsupported] if a newer reader may be able to read it, and
// [ErrFormat] if it is not a replay. [ClassOf] distinguishes these.
type DamageError struct {
	Offset int64         // of the block, in bytes
	Tick   lockstep.Tick // the last readable tick before it
	Next   int64         // offset of the next valid batch or segment, 0 if there is none
	Err    error

	// NextTick is the tick before the next valid block: the ticks from Tick+1 up to it are lost. It is 0 if the block
	// does not say.
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

// appendPrefix appends the first bytes of the file of a match.
func appendPrefix(dst []byte, id lockstep.MatchID) []byte {
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	return append(dst, id[:]...)
}

// appendBlockHeader appends the kind and the length of a block with a body of size bytes.
func appendBlockHeader(dst []byte, kind byte, size int) []byte {
	return binary.AppendUvarint(append(dst, kind), uint64(size))
}

// parseBlockHeader returns the kind, the size of the body and the size of the header that b begins with. It returns
// io.ErrUnexpectedEOF if b is too short.
func parseBlockHeader(b []byte) (kind byte, size uint64, header int, err error) {
	n := 0
	if len(b) > 1 {
		size, n = binary.Uvarint(b[1:min(len(b), 1+maxLengthSize)])
	}
	switch {
	case n == 0 && len(b) < 1+maxLengthSize:
		return 0, 0, 0, fmt.Errorf("the file ends inside the head of a block: %w", io.ErrUnexpectedEOF)
	case n <= 0 || n > 1 && b[n] == 0:
		return 0, 0, 0, fmt.Errorf("%w: length of the block", ErrCorrupt)
	}
	return b[0], size, 1 + n, nil
}

// maxLengthSize is the largest size of a block's length in bytes, enough for 2^35.
const maxLengthSize = 5

// checkBlock returns the check of a block, from the check before it and all other bytes of the block.
func checkBlock(before uint64, block ...[]byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	var b [checkSize]byte
	binary.LittleEndian.PutUint64(b[:], before)
	d.Write(b[:])
	for _, p := range block {
		d.Write(p)
	}
	return d.Sum64()
}

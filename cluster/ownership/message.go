package ownership

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// ErrMalformed: no Owner writes such a message, or not after the one before.
var ErrMalformed = errors.New("ownership: malformed message")

const (
	format     = 1
	headerSize = 14

	// maxName is the largest size of a server's name, in bytes.
	maxName = 64
)

// A kind says what a message has.
type kind byte

const (
	claim   kind = 1
	records kind = 2
	part    kind = 3 // the next message of the owner continues the records
)

// An End is a place in a log: after its last message, or before its first one if it is zero.
type End struct {
	Sequence uint64 // of the last message in the store
	Check    uint64 // of that message
	Term     uint32 // of its owner
}

// appendMessage appends a message that follows end.
func appendMessage(dst []byte, end End, k kind, term uint32, body []byte) []byte {
	from := len(dst)
	dst = append(dst, format, byte(k))
	dst = binary.LittleEndian.AppendUint32(dst, term)
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	dst = append(dst, body...)
	binary.LittleEndian.PutUint64(dst[from+6:], check(end.Check, dst[from:]))
	return dst
}

// check returns the check of a message, whose header need not have it.
//
//samestep:allow unseen xxHash64 is the same function in assembly and in Go
func check(before uint64, message []byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	d.Write(binary.LittleEndian.AppendUint64(nil, before))
	d.Write(message[:6])
	d.Write(message[headerSize:])
	return d.Sum64()
}

// checkOf returns the check in a message, or 0 if it is too short.
func checkOf(message []byte) uint64 {
	if len(message) < headerSize {
		return 0
	}
	return binary.LittleEndian.Uint64(message[6:])
}

// parse reads a message that follows end, and returns the end after it.
func parse(end End, sequence uint64, message []byte) (next End, k kind, body []byte, err error) {
	if len(message) < headerSize || message[0] != format {
		return end, 0, nil, fmt.Errorf("%w: sequence %d: got %d bytes, want %d or more of format %d", ErrMalformed, sequence, len(message), headerSize, format)
	}
	k = kind(message[1])
	term := binary.LittleEndian.Uint32(message[2:])
	next = End{Sequence: sequence, Check: checkOf(message), Term: term}
	body = message[headerSize:]
	switch want := check(end.Check, message); {
	case sequence <= end.Sequence:
		err = fmt.Errorf("got it after sequence %d", end.Sequence)
	case next.Check != want:
		err = fmt.Errorf("got check %016x, want %016x: a message is missing or altered", next.Check, want)
	case k == claim && (term != end.Term+1 || term == 0):
		err = fmt.Errorf("got a claim of term %d, want %d", term, end.Term+1)
	case k == claim && (len(body) == 0 || len(body) > maxName):
		err = fmt.Errorf("got a name of %d bytes, want 1 to %d", len(body), maxName)
	case k != claim && (term != end.Term || term == 0):
		err = fmt.Errorf("got records of term %d, want %d", term, end.Term)
	case k == 0 || k > part:
		err = fmt.Errorf("got kind %d, want 1 to 3", k)
	case k != claim && len(body) == 0:
		err = errors.New("got no records, want some")
	}
	if err != nil {
		return end, 0, nil, fmt.Errorf("%w: sequence %d: %w", ErrMalformed, sequence, err)
	}
	return next, k, body, nil
}

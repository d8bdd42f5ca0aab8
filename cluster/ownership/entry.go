package ownership

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/internal/tries"
)

// A State says whether a match has a server, as far as the directory knows.
type State string

// The states of a match that is not over.
const (
	Playing    State = "playing"    // its server runs it
	Recovering State = "recovering" // its server has taken it, and does not run it yet
	Released   State = "released"   // its server has given it up: any other may take it
	Failed     State = "failed"     // no server could continue it, see Entry.Failure; an admin can call Retry
)

// An Entry is what the directory says of a match. Who changes it names the revision that it has read, so all changes are in one
// order. The methods return the next entry.
type Entry struct {
	Server  string       `json:"server"` // that has the match, or had it last
	State   State        `json:"state"`
	Term    uint32       `json:"term"`              // how many servers have had it
	Tried   []string     `json:"tried,omitempty"`   // servers that could not continue it, since it last ran
	Failure string       `json:"failure,omitempty"` // of the last one
	Tries   tries.Record `json:"tries,omitzero"`    // what is known against it
}

// maxTries is how many servers try to continue a match.
const maxTries = 3

// Lost is for a server that finds the entry's server lost. If that was lost in a try, perhaps because of the match, the match becomes a
// suspect; if it was tried alone, that was a death, and the match can have failed.
func (e Entry) Lost() Entry {
	if !e.Tries.Trying {
		return e
	}
	alone := e.Tries.Alone
	if e.Tries = e.Tries.Died(); alone {
		e.failed("its server was lost while it tried this match alone")
	}
	return e
}

// Take is for a server that takes the match, after [Entry.Lost] if that has lost its server. A match that has failed stays as it is.
func (e Entry) Take(server string, alone bool) Entry {
	if e.State != Failed {
		e.Server, e.State, e.Term, e.Tries = server, Recovering, e.Term+1, e.Tries.Begin(alone)
	}
	return e
}

// Play is for a server that runs what it has taken. The try goes on until the match has run for a while.
func (e Entry) Play() Entry {
	e.State = Playing
	return e
}

// Tested is for a server whose try has ended. ran says that the match has run for a while; otherwise nobody knows.
func (e Entry) Tested(ran bool) Entry {
	if e.Tries = e.Tries.Stop(); ran {
		e.Tried, e.Failure, e.Tries = nil, "", tries.Record{}
	}
	return e
}

// Release is for a server that gives the match up. failure is what kept it from continuing the match, or "".
func (e Entry) Release(failure string) Entry {
	e.State, e.Tries = Released, e.Tries.Stop()
	if failure != "" {
		e.failed(failure)
	}
	return e
}

// failed notes that the entry's server could not continue the match.
func (e *Entry) failed(failure string) {
	e.Tried, e.Failure = append(slices.Clone(e.Tried), e.Server), failure
	if len(e.Tried) >= maxTries || e.Tries.SetAside() {
		e.State = Failed
	}
}

// Retry is for an admin who lets all servers try again.
func (e Entry) Retry() Entry {
	e.State, e.Tried, e.Tries = Released, nil, e.Tries.Again()
	return e
}

// Candidates returns which of the servers that could run the match should take it: those that have not tried. If there are
// none, all of them may try again, but not at once.
func (e Entry) Candidates(able []string) (names []string, again bool) {
	for _, name := range able {
		if !slices.Contains(e.Tried, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return able, true
	}
	return names, false
}

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

package ownership

import (
	"slices"

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

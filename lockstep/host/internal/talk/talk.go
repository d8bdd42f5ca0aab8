package talk

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A Policy is what may be said in a match.
type Policy struct {
	Bytes      int  // of all notes
	History    int  // lines of chat that a joiner is told
	Spectators bool // may chat
}

// MaxHistory bounds Policy.History.
const MaxHistory = 256

const (
	// maxHistoryBytes bounds the text of the lines that a joiner is told.
	maxHistoryBytes = 2 << 10

	// readyBytes is the part of Policy.Bytes that is for who is ready, alone.
	readyBytes = 16
)

// A Purse pays for what a person says.
type Purse interface {
	Take(k budget.Kind, n int) bool
}

// A Line is a line of chat in the log.
type Line struct {
	Player   lockstep.Player
	Text     string
	Position protocol.Position // of its record; 0 for a line from before a recovery
}

// A Talk knows what has been said in a match.
type Talk struct {
	policy  Policy
	bytes   int
	waiting bool     // a name, or who is ready, is not in the log yet
	names   []string // in the log, by seat
	lines   []Line   // the latest
}

// New returns the Talk of a match with so many seats.
func New(seats int, p Policy) *Talk { return &Talk{policy: p, names: make([]string, seats)} }

// size returns how many bytes of Policy.Bytes a note uses.
func size(text string) int { return 16 + len(text) }

// take takes a note from the bytes of the match, of which there may be so many then, and from a purse.
func (t *Talk) take(p Purse, text string, most int) bool {
	n := size(text)
	if t.bytes+n > most || !p.Take(budget.Notes, 1) {
		return false
	}
	t.bytes += n
	return true
}

// Note reports whether a person may write a note.
func (t *Talk) Note(p Purse, text string) bool {
	return t.take(p, text, t.policy.Bytes-t.policy.Bytes/readyBytes)
}

// Ready reports whether a person may write that it is ready, or no longer. Otherwise that waits.
func (t *Talk) Ready(p Purse, text string) bool {
	ok := t.take(p, text, t.policy.Bytes)
	t.waiting = t.waiting || !ok
	return ok
}

// Announce reports whether the host may write an event about a player.
func (t *Talk) Announce(text string) bool {
	if t.bytes+size(text) > t.policy.Bytes/2 {
		return false
	}
	t.Count(text)
	return true
}

// An Answer is what becomes of a line of chat.
type Answer uint8

// The answers.
const (
	Nothing   Answer = iota // it is empty
	Said                    // it is to be written into the log
	Forbidden               // spectators do not chat
	TooMuch                 // from this person
	Full                    // too much is in the log; others may have caused it
)

// Say takes a line of chat, whose record will have a position.
func (t *Talk) Say(p Purse, player lockstep.Player, text string, at protocol.Position) Answer {
	switch {
	case player == lockstep.System && !t.policy.Spectators:
		return Forbidden
	case !p.Take(budget.Chat, 1):
		return TooMuch
	case text == "":
		return Nothing
	case !t.Note(p, text):
		return Full
	}
	t.keep(Line{player, text, at})
	return Said
}

// keep keeps a line for joiners, and drops the oldest ones beyond History or maxHistoryBytes.
func (t *Talk) keep(line Line) {
	if t.policy.History <= 0 {
		return
	}
	t.lines = append(t.lines, line)
	first, sum := len(t.lines), 0
	for first > max(0, len(t.lines)-t.policy.History) {
		if sum += size(t.lines[first-1].Text); sum > maxHistoryBytes {
			break
		}
		first--
	}
	t.lines = slices.Delete(t.lines, 0, first)
}

// Name reports whether a player's name is to be written into the log, which has another one. Beyond the limits it waits.
func (t *Talk) Name(p Purse, seat lockstep.Player, name string) bool {
	if name == t.names[seat] {
		return false
	}
	if !t.Note(p, name) {
		t.waiting = true
		return false
	}
	t.names[seat] = name
	return true
}

// Rename is Name for a name of the host's own, which costs nothing.
func (t *Talk) Rename(seat lockstep.Player, name string) bool {
	changed := name != t.names[seat]
	t.names[seat] = name
	return changed
}

// Waits reports whether a name, or who is ready, waits.
func (t *Talk) Waits() bool { return t.waiting }

// Retry is Waits for a caller who now offers all names and the readiness of all players again.
func (t *Talk) Retry() bool {
	waited := t.waiting
	t.waiting = false
	return waited
}

// Named returns the name of a seat in the log, also of a vacant one.
func (t *Talk) Named(seat lockstep.Player) string { return t.names[seat] }

// Lines returns the latest lines of chat before a position.
func (t *Talk) Lines(before protocol.Position) []Line {
	return slices.DeleteFunc(slices.Clone(t.lines), func(l Line) bool { return l.Position >= before })
}

// Read takes a line of chat, which is in the log already.
func (t *Talk) Read(player lockstep.Player, text string) { t.keep(Line{Player: player, Text: text}) }

// Count counts a note that is in the log already.
func (t *Talk) Count(text string) { t.bytes += size(text) }

// Recover takes over what another Talk has read from the log.
func (t *Talk) Recover(read *Talk) {
	t.bytes = read.bytes
	copy(t.names, read.names)
	for _, l := range read.lines {
		t.keep(l)
	}
}

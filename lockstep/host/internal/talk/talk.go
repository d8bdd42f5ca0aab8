// Package talk decides which chat lines, names and announcements are written to the log of a match. It is one of the machines that
// lockstep/host composes.
//
// Every peer receives all notes, and they stay in the replay file. A [Talk] therefore limits the total size of notes, and a [Purse]
// charges the person who causes one:
//
//	note                       charged to its author   allowed while all notes use less than
//	a chat line                Chat and Notes          15/16 of Policy.Bytes
//	a name, a reason to leave  Notes                   15/16 of Policy.Bytes
//	readiness in a lobby       Notes                   Policy.Bytes, so that chat cannot keep a match in its lobby
//	an announcement            nobody                  1/2 of Policy.Bytes, so that names and chat keep the rest
//
// # Chat
//
// [Talk.Say] takes a chat line and returns an [Answer]: write it to the log, refuse it as an offence, or drop it because the match
// is at its limit, which may be the fault of others. A Talk remembers the latest lines for joiners ([Talk.Lines]): at most
// Policy.History lines and 2 KiB of text, so that a flood of chat does not slow down joining.
//
// # Names and readiness
//
// The host calls [Talk.Name] when a player takes a seat, and writes the name if the result is true. A name that is in the log already
// is not written again, even if the seat was vacant in between.
//
//	written ──Name(another)──► allowed: written
//	                           refused: waiting ──Retry──► the host calls Name again for every seat
//
// [Talk.Ready] works the same way for a player's readiness. The host polls [Talk.Retry]; when it returns true, the host offers all
// names and the readiness of all players again. If a value changes several times in between, only the last one reaches the log.
//
// # Recovery
//
// A recovery replays the log into a Talk with [Talk.Rename], [Talk.Read] and [Talk.Count]. [Talk.Recover] copies the result to the
// Talk of the host that continues the match.
//
//samestep:deterministic
package talk

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A Policy limits notes.
type Policy struct {
	Bytes      int  // of all notes together
	History    int  // chat lines that a joiner receives
	Spectators bool // spectators may chat
}

// MaxHistory bounds Policy.History.
const MaxHistory = 256

const (
	// maxHistoryBytes bounds the text of the chat lines that a joiner receives.
	maxHistoryBytes = 2 << 10

	// readyBytes is the fraction of Policy.Bytes reserved for readiness: a sixteenth.
	readyBytes = 16
)

// A Purse charges the author of a note.
type Purse interface {
	Take(k budget.Kind, n int) bool
}

// A Line is a chat line in the log.
type Line struct {
	Player   lockstep.Player
	Text     string
	Position protocol.Position // of its record; 0 for a line from before a recovery
}

// A Talk tracks the notes of a match.
type Talk struct {
	policy Policy
	bytes  int
	Waits  bool     // a name or readiness was refused
	names  []string // in the log, by seat
	lines  []Line   // the latest
}

// New returns the Talk of a match with the given number of seats.
func New(seats int, p Policy) *Talk { return &Talk{policy: p, names: make([]string, seats)} }

// size returns the bytes of Policy.Bytes that a note uses.
func size(text string) int { return 16 + len(text) }

// take charges a note to the match, which may have limit bytes of notes, and to a purse.
func (t *Talk) take(p Purse, text string, limit int) bool {
	n := size(text)
	if t.bytes+n > limit || !p.Take(budget.Notes, 1) {
		return false
	}
	t.bytes += n
	return true
}

// Note charges a note of a person. It returns false if the note exceeds a limit.
func (t *Talk) Note(p Purse, text string) bool {
	return t.take(p, text, t.policy.Bytes-t.policy.Bytes/readyBytes)
}

// Ready charges a note about the readiness of a player. If it returns false, the readiness waits for [Talk.Retry].
func (t *Talk) Ready(p Purse, text string) bool {
	ok := t.take(p, text, t.policy.Bytes)
	t.Waits = t.Waits || !ok
	return ok
}

// Announce counts an event of the host about a player. It returns false if the event exceeds the limit.
func (t *Talk) Announce(text string) bool {
	if t.bytes+size(text) > t.policy.Bytes/2 {
		return false
	}
	t.Count(text)
	return true
}

// An Answer is the decision about a chat line.
type Answer uint8

// The answers.
const (
	Nothing   Answer = iota // the line is empty
	Said                    // write it to the log
	Forbidden               // spectators must not chat
	TooMuch                 // the author exceeds the rate of chat
	Full                    // the author or the match exceeds the limits of notes
)

// Say decides about a chat line. at is the position of its record.
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

// keep remembers a line for joiners, and drops the oldest lines beyond History or maxHistoryBytes.
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

// Name reports whether to write a player's name to the log. If the log has another name and a limit is exceeded, the name waits for
// [Talk.Retry].
func (t *Talk) Name(p Purse, seat lockstep.Player, name string) bool {
	if name == t.names[seat] {
		return false
	}
	if !t.Note(p, name) {
		t.Waits = true
		return false
	}
	t.names[seat] = name
	return true
}

// Rename is Name without charges, for the names of bots.
func (t *Talk) Rename(seat lockstep.Player, name string) bool {
	changed := name != t.names[seat]
	t.names[seat] = name
	return changed
}

// Retry is Waits for a caller that then offers all names and the readiness of all players again.
func (t *Talk) Retry() bool {
	waited := t.Waits
	t.Waits = false
	return waited
}

// Named returns the name that the log has for a seat, which may be vacant.
func (t *Talk) Named(seat lockstep.Player) string { return t.names[seat] }

// Lines returns the latest chat lines before a position.
func (t *Talk) Lines(before protocol.Position) []Line {
	return slices.DeleteFunc(slices.Clone(t.lines), func(l Line) bool { return l.Position >= before })
}

// Read takes a chat line from the log.
func (t *Talk) Read(player lockstep.Player, text string) { t.keep(Line{Player: player, Text: text}) }

// Count counts the bytes of a note in the log.
func (t *Talk) Count(text string) { t.bytes += size(text) }

// Recover copies the state of another Talk, which has read the log.
func (t *Talk) Recover(read *Talk) {
	t.bytes = read.bytes
	copy(t.names, read.names)
	for _, l := range read.lines {
		t.keep(l)
	}
}

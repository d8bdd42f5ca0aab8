package replay

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/seed-49bee653/samestep/internal/matchlog"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// Recorded collects the states in a recording of another engine (docs/spec/recordings.md), which cannot be simulated.
type Recorded struct {
	Schema *state.Schema   // of the states; nil if the recording has none
	States []RecordedState // by tick, one for each: that of the player whose machine recorded, or else of the lowest player

	lines matchlog.Lines
	only  func(t lockstep.Tick) bool // the states of other ticks have no bytes; nil for all
}

// A RecordedState is the state of a tick as a player's machine recorded it.
type RecordedState struct {
	Tick   lockstep.Tick
	Player lockstep.Player
	State  []byte // canonical bytes
}

// Add takes a record of the replay. It ignores all but the lines of the recording.
func (r *Recorded) Add(rec *record.Record) error {
	if rec.Kind != record.KindForeign {
		return nil
	}
	e, err := r.lines.Next(rec.Line)
	if err != nil {
		return fmt.Errorf("replay: a line after tick %d: %w: %w", rec.Tick, matchlog.ErrMalformed, err)
	}
	h := r.lines.Header
	r.Schema = h.Schema
	if e == nil || !e.Dump || e.More || h.By != matchlog.Nobody && h.By != e.Player {
		return nil
	}
	s := RecordedState{lockstep.Tick(e.Tick), lockstep.Player(e.Player), e.State}
	if r.only != nil && !r.only(s.Tick) {
		s.State = nil
	}
	i, found := slices.BinarySearchFunc(r.States, s.Tick, func(s RecordedState, t lockstep.Tick) int { return cmp.Compare(s.Tick, t) })
	switch {
	case !found:
		r.States = slices.Insert(r.States, i, s)
	case s.Player < r.States[i].Player:
		r.States[i] = s
	}
	return nil
}

// Type returns the type of the states as text, or "".
func (r *Recorded) Type() string {
	if r.lines.Header == nil {
		return ""
	}
	return r.lines.Header.Type
}

// Ticks returns the ticks of the states, in order.
func (r *Recorded) Ticks() []lockstep.Tick {
	ticks := make([]lockstep.Tick, len(r.States))
	for i := range r.States {
		ticks[i] = r.States[i].Tick
	}
	return ticks
}

// At returns the state of a tick. Without one, the error is a [*NoStateError].
func (r *Recorded) At(t lockstep.Tick) (*RecordedState, error) {
	i := sort.Search(len(r.States), func(i int) bool { return r.States[i].Tick >= t })
	if i < len(r.States) && r.States[i].Tick == t {
		return &r.States[i], nil
	}
	e := &NoStateError{Tick: t, Typed: r.Schema != nil}
	for _, s := range r.States[max(i-1, 0):min(i+1, len(r.States))] {
		e.Nearest = append(e.Nearest, s.Tick)
	}
	return nil, e
}

// A NoStateError means that a recording of another engine has no state of a tick.
type NoStateError struct {
	Tick    lockstep.Tick
	Nearest []lockstep.Tick // the ticks with a state before and after it, at most two
	Typed   bool            // the recording has the type of its states
}

func (e *NoStateError) Error() string {
	text := fmt.Sprintf("no recorded state at tick %d; ", e.Tick)
	switch len(e.Nearest) {
	case 0:
		text += "the recording has no states"
	case 1:
		text += fmt.Sprintf("the nearest is that of tick %d", e.Nearest[0])
	default:
		text += fmt.Sprintf("the nearest are those of ticks %d and %d", e.Nearest[0], e.Nearest[1])
	}
	if !e.Typed {
		return text + ", and no type of them"
	}
	return text + fmt.Sprintf("; to record it, run the game again with SAMESTEP_DUMP=%d", e.Tick)
}

// A RecordingInfo describes what an imported recording has besides commands, checksums and notes (docs/spec/recordings.md).
type RecordingInfo struct {
	Match    string           `json:"match"`              // recordings with the same text are of one match
	Player   *lockstep.Player `json:"player,omitempty"`   // whose machine recorded; nil for a server or a converter
	Sections []string         `json:"sections,omitempty"` // the parts of the state that have checksums of their own
	Type     string           `json:"type,omitempty"`     // of the state, as text
	States   int              `json:"states"`             // number of states
	First    lockstep.Tick    `json:"first_state"`        // the tick of the first state, in the order of the file
	Last     lockstep.Tick    `json:"last_state"`
	Odd      int              `json:"odd"` // lines that are no lines of a recording

	header *matchlog.Header
}

// add takes a line, of which the first is the header. It returns a new description for nil.
func (r *RecordingInfo) add(line []byte) *RecordingInfo {
	if r == nil {
		r = &RecordingInfo{}
	}
	if r.header == nil {
		h, err := matchlog.ParseHeader(line)
		if err != nil {
			r.Odd++
			return r
		}
		r.header, r.Match, r.Sections, r.Type = &h, h.Match, h.Sections, h.Type
		if h.By != matchlog.Nobody {
			by := lockstep.Player(h.By)
			r.Player = &by
		}
		return r
	}
	e, _, err := r.header.ParseEntry(line)
	switch {
	case err != nil:
		r.Odd++
	case e.Dump && !e.More:
		if r.Last = lockstep.Tick(e.Tick); r.States == 0 {
			r.First = r.Last
		}
		r.States++
	}
	return r
}

func (r *RecordingInfo) write(line func(name, format string, args ...any)) {
	if r == nil {
		return
	}
	text := "of a server or a converter"
	if r.Player != nil {
		text = fmt.Sprintf("of player %d", *r.Player)
	}
	if r.Match != "" {
		text += fmt.Sprintf(", of the match %q", r.Match)
	}
	line("recording", "%s", text)
	if len(r.Sections) > 0 {
		line("sections", "%s", strings.Join(r.Sections, ", "))
	}
	if r.Type != "" {
		line("type", "%s", r.Type)
	}
	if r.States > 0 {
		line("states", "%s, of ticks %d to %d", words.Count(r.States, "state"), r.First, r.Last)
	}
	if r.Odd > 0 {
		line("", "%s", words.Plural(r.Odd, "line", "is", "are")+" unreadable")
	}
}

// ForeignEngine is the engine in the header of an imported match, which cannot be simulated.
const ForeignEngine = "foreign"

// ForeignBuild and ForeignPlatform are in the header of an imported match whose build and platform are not known.
const (
	ForeignBuild    = "imported"
	ForeignPlatform = "unknown"
)

// ForeignTorn is the reason of the end of an imported match whose recording has no end. Some commands of its last tick may be missing.
const ForeignTorn = "torn"

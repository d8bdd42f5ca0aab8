package replay

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/seed-49bee653/samestep/checksum"
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

// RecordedAt returns the state of a tick in a recording of another engine. Its checksum is the one that the player reported, and
// cannot be compared. Without such a state, the error is a [*NoStateError], or a [*TickError] if the match lacks the tick.
func RecordedAt(r *Reader, t lockstep.Tick) (*Moment, error) {
	own, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	found := &Recorded{only: func(tick lockstep.Tick) bool { return tick == t }}
	var (
		header         lockstep.Header
		first, last    lockstep.Tick
		silent, differ [256]bool // players
		sums           [256]uint64
		reported       [256]bool
	)
	err = Play(own, nil, func(rec *record.Record) error {
		if rec.Ticks() > 0 {
			last = rec.Tick
		}
		switch {
		case rec.Kind == record.KindHeader:
			header = *rec.Header
		case rec.Kind == record.KindKeyframe && last == 0:
			first, last = rec.Tick, rec.Tick
		case rec.Event == record.EventReports:
			silent[rec.Player] = rec.Text != "yes"
		case rec.Kind == record.KindChecksum && rec.Tick == t:
			for p := range sums {
				if !silent[p] && !differ[p] {
					sums[p], reported[p] = rec.Hash, true
				}
			}
		case rec.Kind == record.KindMismatch && rec.Tick == t:
			sums[rec.Player], reported[rec.Player], differ[rec.Player] = rec.Hash, true, true
		}
		return found.Add(rec)
	})
	s, missing := found.At(t)
	switch {
	case missing == nil: // damage after it does not matter
	case err != nil:
		return nil, err
	case t < first || t >= last: // the last tick has the commands after the last state
		return nil, &TickError{Tick: t, First: first, Last: max(last, 1) - 1}
	default:
		return nil, missing
	}
	header.StateSchema = found.Schema.AppendDescription(nil)
	m := &Moment{Tick: t, By: &s.Player, State: s.State, Header: &header, Hash: sums[s.Player], summed: reported[s.Player]}
	return m, nil
}

// recorded describes a recorded state for people.
func (m *Moment) recorded() string {
	sum := "no checksum"
	if m.summed {
		sum = checksum.FormatHash(m.Hash)
	}
	return fmt.Sprintf("%s  %s, recorded by player %d", sum, words.Size(len(m.State)), *m.By)
}

package recordings

import (
	"fmt"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/bisect"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// A Divergence says where two recordings of one match of another engine begin to differ. Such a match cannot be simulated
// here, so it does not say which of them is right.
type Divergence struct {
	A Side `json:"a"`
	B Side `json:"b"`

	// Cause is what the recordings show about the reason.
	Cause DivergenceCause `json:"cause"`

	// Frame is the first tick whose commands differ after the last tick at which the checksums agree before they differ, of those
	// that both have, or nil. Commands describes them.
	Frame    *bisect.FrameDifference `json:"-"`
	Commands *bisect.FrameText       `json:"commands"`

	// Order is the first tick whose commands are the same, but of which the players stand in another order, if that is the
	// cause; else 0. Like that of Frame, it is the tick of the state to which the commands lead.
	Order lockstep.Tick `json:"order,omitempty"`

	// Compared is the number of ticks of which both have a checksum; at Differed of them, these differ.
	Compared int `json:"compared"`
	Differed int `json:"differed"`

	// Tick is the first tick whose checksums or states differ, if Differs. Agreed is the last tick before it whose are
	// equal; if Known is false, there is none. Exact means that no other tick is between them, or that Tick is 0.
	Differs bool          `json:"differs"`
	Tick    lockstep.Tick `json:"tick"`
	Agreed  lockstep.Tick `json:"agreed"`
	Known   bool          `json:"known"`
	Exact   bool          `json:"exact"`

	// Sections are the sections of the state that differ at Tick, as far as known.
	Sections []string `json:"sections"`

	// Fields has the differences between the states of tick FieldsTick, the first one from Tick on of which both have the
	// state. Places are the same, grouped. They are empty without states.
	FieldsTick lockstep.Tick     `json:"fields_tick"`
	Fields     state.Differences `json:"fields"`
	Places     state.Places      `json:"places"`

	// Flipped: the states of FieldsTick differ in a single bit, which is neither a bool nor the last bit of a float.
	Flipped bool `json:"single_flipped_bit,omitempty"`

	// Traces has the first phase and the first draws that differ; nil if no side has recorded any.
	Traces *Traces `json:"traces,omitempty"`

	// Missing are the states without which the first field that differed is not known, or nil.
	Missing *MissingStates `json:"missing"`

	// Reruns are further recordings of a side that differ from its first one.
	Reruns []Rerun `json:"reruns"`

	// Notes say what is odd about the recordings.
	Notes []string `json:"notes"`

	// LeftOut are the other recordings that [CompareMachines] was given.
	LeftOut []desync.LeftOut `json:"left_out,omitempty"`

	path  string
	limit int
	asked bool          // for the states of FieldsTick, and they are known
	early lockstep.Tick // whose commands differ, and after which the states agree; 0 for none

	earlyTrace [2]bool // phases, and draws, differ before ticks at which the states agree
}

// A Side is one of the two machines: its recordings, of which the first one counts.
type Side struct {
	*Recording
	More []*Recording `json:"more,omitempty"`

	usable []lockstep.Tick // of each: only earlier ticks are the same run
}

// A DivergenceCause is what two recordings show about the reason of their difference.
type DivergenceCause string

// The causes.
const (
	// CauseNone: nothing differs, or nothing was compared: see [Divergence.Uncompared].
	CauseNone DivergenceCause = "none"

	// CauseCommands: the machines ran different commands, and then had different states.
	CauseCommands DivergenceCause = "commands"

	// CauseOrder: the machines ran the same commands with the players in another order, and then had different states.
	CauseOrder DivergenceCause = "order"

	// CauseStates: the states differ, and no commands that both recordings have. The verdict says whether both have them all.
	CauseStates DivergenceCause = "states"

	// CauseStart: the first states that both recordings can have differ.
	CauseStart DivergenceCause = "beginning"

	// CausePhases: phases or draws of a step differ, and no state is known to: none is of that tick, or of a later one.
	CausePhases DivergenceCause = "phases"

	// CauseRerun: a machine computed other states in a second run, from the same commands: its rules have no fixed result.
	CauseRerun DivergenceCause = "nondeterminism"
)

// A Rerun is a further recording of a side that differs from the first one of the side.
type Rerun struct {
	Side     string        `json:"side"` // A or B
	File     string        `json:"file"`
	Commands bool          `json:"commands"` // the commands differ: it is another run of the match
	Tick     lockstep.Tick `json:"tick"`     // the first one that differs
	Sections []string      `json:"sections"` // of the states, as far as known
}

// Options are the options of [Compare].
type Options struct {
	// Tick is the tick whose states are compared; nil means the first one that differs.
	Tick *lockstep.Tick

	// Path limits the fields to those at or below it, as [state.Schema.Lookup] takes it; "" is the whole state. The error wraps
	// [state.ErrPath] if the states do not have it.
	Path string

	// Limit is the maximum number of lines of fields in a text, and of commands of a side; 0 means 20, and a negative
	// number none.
	Limit int
}

// before reports whether d shows a difference, and other none or a later one.
func (d *Divergence) before(other *Divergence) bool {
	if d.Cause == CauseNone || other.Cause == CauseNone {
		return d.Cause != CauseNone || other.Uncompared() != nil && d.Uncompared() == nil
	}
	return d.span().To < other.span().To
}

// span returns where the first divergent tick is.
func (d *Divergence) span() desync.Span {
	switch r := d.unstable(); {
	case r != nil:
		return desync.Span{From: r.Tick, To: r.Tick}
	case d.Differs && d.Exact:
		return desync.Span{From: d.Tick, To: d.Tick}
	case d.Differs && d.Known:
		return desync.Span{From: d.Agreed + 1, To: d.Tick}
	case d.Differs:
		return desync.Span{From: 0, To: d.Tick}
	case d.Frame != nil:
		return desync.Span{From: d.Frame.Tick, To: d.Frame.Tick}
	}
	if t, ok := d.Traces.latest(); ok {
		return desync.Span{From: d.Agreed + 1, To: t}
	}
	return desync.Span{}
}

// unstable returns the first run that had other states from the same commands, if that is the cause, or nil.
func (d *Divergence) unstable() (first *Rerun) {
	if d.Cause != CauseRerun {
		return nil
	}
	for i := range d.Reruns {
		if r := &d.Reruns[i]; !r.Commands && (first == nil || r.Tick < first.Tick) {
			first = r
		}
	}
	return first
}

func (d *Divergence) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

func (d *Divergence) judge() {
	d.Cause = CauseNone
	for _, r := range d.Reruns {
		if !r.Commands && (!d.Differs || r.Tick <= d.Tick) {
			d.Cause = CauseRerun
			return
		}
	}
	switch {
	case d.Frame != nil && (!d.Differs || d.Frame.Tick <= d.Tick):
		d.Cause = CauseCommands
	case d.Order > 0:
		d.Cause = CauseOrder
	case d.Differs && d.Tick == max(d.A.First, d.B.First):
		d.Cause = CauseStart
	case d.Differs:
		d.Cause = CauseStates
	case d.Traces.name() != "":
		d.Cause = CausePhases
	}
}

// Uncompared returns an error that wraps [desync.ErrNothingCompared], with what both sides have, if no states were compared and no
// commands are known to differ; else nil.
func (d *Divergence) Uncompared() error {
	if d.Cause != CauseNone || d.Known || d.asked {
		return nil
	}
	return fmt.Errorf("%w: A has %s, and B has %s; there is no tick of which both have a checksum, or a state of the same type",
		desync.ErrNothingCompared, ticksText(d.A.span()), ticksText(d.B.span()))
}

// Early names the side whose recording is torn and ends before the other's, A or B, or nothing. What would differ later is
// not known.
func (d *Divergence) Early() string {
	switch a, b := d.A, d.B; {
	case a.Torn && a.Ticks <= b.Ticks:
		return "A"
	case b.Torn && b.Ticks <= a.Ticks:
		return "B"
	}
	return ""
}

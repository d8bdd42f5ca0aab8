package desync

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Line is the line of code at which two sides begin to compute different states, as samestep desync line finds it.
type Line struct {
	File    string          `json:"file"` // relative to the module; "" for a function of a module of rules that does not tell it
	Number  int             `json:"line"`
	Func    string          `json:"func"`
	Tick    lockstep.Tick   `json:"tick"`              // at which the two sides begin to differ; 0 if they do not
	Phase   string          `json:"phase,omitempty"`   // the part of Step, if the rules mark parts
	Source  string          `json:"source"`            // the line itself, on side B if it is there; "" if only the function is known
	OnA     string          `json:"on_a,omitempty"`    // the same line on side A, if that has another text
	Because string          `json:"because"`           // values are those of A | B
	Doubt   string          `json:"doubt,omitempty"`   // why this is not the line of this desync; "" if nothing contradicts it
	Sides   []string        `json:"sides,omitempty"`   // what A and B are
	Text    []string        `json:"text"`              // all of the result, line by line
	Result  json.RawMessage `json:"details,omitempty"` // the same for programs; empty in a redacted report

	// Parting is set if both sides are one version, which has computed the tick otherwise: the proof that it has no fixed result.
	Parting *Parting `json:"-"`
}

// SetLine adds the line to the explanation, and the second part to its fingerprint if the sides that were compared begin to
// differ where the desync began. A line with a Doubt adds no part.
func (e *Explanation) SetLine(l *Line) {
	own := *l
	if e.Redacted {
		own.Source, own.OnA, own.Because, own.Result = masked(l.Source), masked(l.OnA), masked(l.Because), nil
		own.Text = nil
		for _, text := range l.Text {
			own.Text = append(own.Text, masked(text))
		}
	}
	e.Line = &own
	if own.Parting != nil && e.Verdict.Party != NoFixedResult {
		e.unfix(own.Parting, e.Verdict.Runs+1)
		e.Fingerprint = NewFingerprint(e.Game, ClassUnstable, "", own.Parting.Field)
	}
	e.Title = e.answer()
	switch {
	case own.Tick == 0 || own.Func == "" || own.Doubt != "":
	case own.Parting == nil && (own.Tick < e.First.From || own.Tick > e.First.To):
		e.Notes = append(e.Notes, fmt.Sprintf("the sides that were compared for the line of code begin to differ at tick %d, and this desync did not begin there: the line may be another difference", own.Tick))
	default:
		e.Fingerprint.Phase, e.Fingerprint.Func = own.Phase, own.Func
		e.Fingerprint.seal()
	}
}

// lines returns the line with its place and source, and why it is the one; nil without one.
func (l *Line) lines() []string {
	if l == nil {
		return nil
	}
	if l.Func == "" {
		return []string{l.Because}
	}
	var all []string
	if l.Doubt != "" {
		all = append(all, "not of this desync: "+l.Doubt)
	}
	switch {
	case l.File == "":
		all = append(all, l.Func)
	case l.Source == "":
		all = append(all, fmt.Sprintf("%s at %s:%d", l.Func, l.File, l.Number))
	default:
		all = append(all, fmt.Sprintf("%s:%d  in %s", l.File, l.Number, l.Func), "    "+strings.TrimSpace(l.Source))
	}
	if l.OnA != "" {
		all = append(all, "on A:", "    "+strings.TrimSpace(l.OnA))
	}
	all = append(all, l.Because)
	if len(l.Sides) == 2 {
		all = append(all, fmt.Sprintf("A: %s | B: %s", l.Sides[0], l.Sides[1]))
	}
	return all
}

// A NextStep is a command with which a reader of the report goes on.
type NextStep struct {
	Why     string `json:"why"`
	Command string `json:"command"`
	Next    bool   `json:"-"` // the text has it, too
}

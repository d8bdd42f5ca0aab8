package desync

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-49bee653/samestep/internal/words"
)

// The maximum number of lines of each kind in the text. The JSON and the page have all.
const (
	textPlaces   = 8
	textCommands = 8
	textCauses   = 8
	maxRivals    = 3
)

// WriteText writes the explanation for people. Control characters in names and strings of the match are escaped.
func (e *Explanation) WriteText(w io.Writer) error { return e.page().Write(w) }

// Lines returns the text that WriteText writes, but each line whole, however long: the most important first.
func (e *Explanation) Lines() []string { return e.page().Lines() }

// page has the answer first, then how it is known, what to run, the evidence, and at the end what was tried.
func (e *Explanation) page() *words.Page {
	t := &words.Page{}
	t.Line("answer", "%s", e.Title)
	t.Line("verdict", "%s: %s", e.Verdict.title(), e.Verdict.Text)
	if e.Panic != nil {
		e.addPanicked(t)
		return t
	}
	if e.Verdict.Advice != "" {
		t.Line("", "%s", e.Verdict.Advice)
	}
	t.Line("", "%s", e.Verdict.graded())
	listLines(t, "line", e.Line.lines())
	e.cause(t)
	e.addNext(t)
	t.Line("match", "%s of %s build %s, recorded on %s, explained on %s", e.Match, e.Game, e.Build, e.Recorder, e.Machine)
	t.Line("found", "%s", e.report())
	for _, g := range e.Groups {
		t.Line("", "%s", g)
	}
	listLines(t, "programs", e.programLines())
	t.Line("bug", "%s", e.Fingerprint)
	listLines(t, "end", e.Ending.lines())
	listLines(t, "again", e.Again.Lines())
	t.Line("first", "%s", e.firstLine())
	listLines(t, "fields", e.fieldLines())
	listLines(t, "changed", lines(e.Changes))
	listLines(t, "commands", lines(e.Commands))
	listLines(t, "draws", append(lines(e.Streams), lines(e.Draws)...))
	listLines(t, "common", e.traitLines())
	if tried := e.tried(); tried != nil {
		t.Line("tried", "%s", strings.Join(tried, ", "))
	}
	listLines(t, "note", e.Notes)
	return t
}

// addPanicked describes a bundle of a panic.
func (e *Explanation) addPanicked(t *words.Page) {
	listLines(t, "line", e.Line.lines())
	e.addNext(t)
	t.Line("match", "%s of %s build %s, recorded on %s, explained on %s", e.Match, e.Game, e.Build, e.Recorder, e.Machine)
	t.Line("found", "%s", e.report())
	addPanic(t, e.Panic)
	listLines(t, "programs", e.programLines())
	t.Line("bug", "%s", e.Fingerprint)
	for i := range e.Commands {
		t.Line(words.First("commands", i), "#%d %s", e.Commands[i].Sequence, e.Commands[i].Text)
	}
	if n := e.Panic.Commands - len(e.Commands); n > 0 {
		t.Line("", "and %d more", n)
	}
	listLines(t, "note", e.Notes)
}

// addNext adds the commands to go on with.
func (e *Explanation) addNext(t *words.Page) {
	name := "next"
	for i := range e.Steps {
		if s := &e.Steps[i]; s.Next {
			t.Whole(name, s.Command)
			name = ""
		}
	}
}

// listLines adds the first lines of a list, and counts the others.
func listLines(t *words.Page, name string, list []string) {
	for i, line := range list {
		if i == textCommands && len(list) > textCommands+1 {
			t.Line("", "and %d more", len(list)-i)
			return
		}
		t.Note(name, line)
		name = ""
	}
}

// String returns the group as one line of text.
func (g Group) String() string {
	s := g.Checksum + "  "
	switch {
	case g.Referee && len(g.Players) == 0:
		s += "the referee"
	case g.Referee:
		s += "the referee, " + g.who()
	case len(g.Players) == 0:
		s += "agreed"
	default:
		s += g.who()
	}
	if g.Right {
		s += " (as simulated again)"
	}
	return s
}

func (e *Explanation) firstLine() string {
	if e.Panic != nil {
		return fmt.Sprintf("the rules did not compute tick %d", e.Tick)
	}
	if e.First.Exact() {
		return fmt.Sprintf("the first divergent tick is %d", e.First.To)
	}
	return fmt.Sprintf("the first divergent tick is one of %d to %d", e.First.From, e.First.To)
}

func (e *Explanation) cause(t *words.Page) {
	if c := e.Cause; c != nil {
		t.Line("cause", "consistent with: %s: %s", c.Kind, c.Text)
		shown := min(len(c.Others), textCauses)
		for _, other := range c.Others[:shown] {
			t.Line("", "or as well, %s: %s", other.Kind, other.Text)
		}
		if more := len(c.Others) - shown + c.More; more > 0 {
			t.Line("", "or as well, %d more", more)
		}
		faults := "this one fault"
		if len(c.Others) > 0 {
			faults = "any one of these faults"
		}
		t.Line("", "shown by trial: the match with %s ends in the wrong side's state of tick %d, bit by bit, and so it does with a rule that does the same", faults, c.ends)
	}
}

// tried lists the trials.
func (e *Explanation) tried() (all []string) {
	for _, f := range e.Tried {
		if f.Count > 0 || !f.All {
			all = append(all, f.String())
		}
	}
	return all
}

func (e *Explanation) fieldLines() []string {
	if e.Fields.Total == 0 {
		if e.path != "" {
			return []string{fmt.Sprintf("at tick %d: nothing differs at %s", e.Compared, e.path)}
		}
		return nil
	}
	fields := "fields"
	if e.Fields.Total == 1 {
		fields = "field"
	}
	all := append([]string{fmt.Sprintf("at tick %d, %s: %d %s", e.Compared, e.values(), e.Fields.Total, fields)}, e.Places.Lines(textPlaces)...)
	if len(e.Rivals) > 0 {
		all = append(all, "which differed first is unknown: it may be "+strings.Join(e.Rivals[:min(len(e.Rivals), maxRivals)], " or ")+" as well, from which about as much of this follows")
	}
	return all
}

func (e *Explanation) traitLines() []string {
	var all []string
	for _, x := range e.Traits {
		if x.Telling() || x.All == 0 || x.Name == "build" || x.Name == "platform" {
			all = append(all, x.String())
		}
	}
	return all
}

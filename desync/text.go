package desync

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-49bee653/samestep/desync/internal/pages"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
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
	if e.Panic == nil {
		if e.Verdict.Advice != "" {
			t.Line("", "%s", e.Verdict.Advice)
		}
		t.Line("", "%s", e.Verdict.graded())
	}
	listLines(t, "line", e.Line.lines())
	e.cause(t)
	name := "next"
	for i := range e.Steps {
		if s := &e.Steps[i]; s.Next {
			t.Whole(name, s.Command)
			name = ""
		}
	}
	t.Line("match", "%s of %s build %s, recorded on %s, explained on %s", e.Match, e.Game, e.Build, e.Recorder, e.Machine)
	t.Line("found", "%s", e.report())
	if e.Panic != nil {
		addPanic(t, e.Panic)
	} else {
		for _, g := range e.Groups {
			t.Line("", "%s", g)
		}
	}
	listLines(t, "programs", e.programLines())
	t.Line("bug", "%s", e.Fingerprint)
	if e.Panic != nil {
		for i := range e.Commands {
			t.Line(words.First("commands", i), "#%d %s", e.Commands[i].Sequence, e.Commands[i].Text)
		}
		if n := e.Panic.Commands - len(e.Commands); n > 0 {
			t.Line("", "and %d more", n)
		}
		listLines(t, "note", e.Notes)
		return t
	}
	listLines(t, "end", e.Ending.lines())
	listLines(t, "flight", e.Flight.Lines())
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
	switch {
	case e.Fields.Total == 0 && e.path == "":
		return nil
	case e.Fields.Total == 0:
		return []string{fmt.Sprintf("at tick %d: nothing differs at %s", e.Compared, e.path)}
	}
	all := append([]string{fmt.Sprintf("at tick %d, %s: %s", e.Compared, e.values(), words.Count(e.Fields.Total, "field"))}, e.Places.Lines(textPlaces)...)
	if len(e.Rivals) > 0 {
		all = append(all, "it is unknown which differed first: maybe "+strings.Join(e.Rivals[:min(len(e.Rivals), maxRivals)], " or ")+" instead, from which about as much follows")
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

// WriteHTML writes the explanation as one self-contained page, without scripts, fonts or network requests. It escapes
// everything that comes from the match.
func (e *Explanation) WriteHTML(w io.Writer) error {
	return pages.Write(w, "page.html", newPage(e))
}

// A page is the data of the template. Lengths are in units of the drawings, which are stretched to the width of the
// page.
type page struct {
	*Explanation
	Who1, Reason, Report, FirstLine string
	Advice                          string
	ProgramLines                    []string
	Wide, MarkX, MarkW              int
	ColumnTicks, LastTick, Good     lockstep.Tick
	Rows                            []pageRow
	Tree                            []*pages.Branch
	Cut                             bool
	Common                          []Trait
	Trials                          []string
}

// A pageRow is one participant's row of the time line.
type pageRow struct {
	Label   string
	Differs bool
	Checks  []pageBar
}

type pageBar struct {
	X, W         int
	Class, Title string
}

// columnWide is the width of a drawn column of the time line.
const columnWide = 10

func newPage(e *Explanation) *page {
	p := &page{
		Explanation: e, Who1: e.headline(), Reason: pages.Capital(e.Verdict.Text), Advice: pages.Capital(e.Verdict.Advice), ProgramLines: e.programLines(), Trials: e.tried(),
		Report: pages.Capital(e.report()), FirstLine: pages.Capital(e.firstLine()),
		Wide: columnWide * len(e.Columns), Good: e.good, Tree: pages.Tree(e.Fields.List), Cut: e.Fields.Total > len(e.Fields.List),
	}
	if last := len(e.Columns) - 1; last >= 0 {
		p.LastTick = e.Columns[last].To
		p.ColumnTicks = e.Columns[0].To
		p.MarkX = int(int64(e.First.From-1) * columnWide / int64(p.ColumnTicks))
		p.MarkW = max(int(int64(e.First.To-e.First.From+1)*columnWide/int64(p.ColumnTicks)), 1)
	}
	for i := range e.Who {
		p.Rows = append(p.Rows, p.row(&e.Who[i]))
	}
	for _, t := range e.Traits {
		if t.Telling() || t.All == 0 || t.Name != "lost its connection" {
			p.Common = append(p.Common, t)
		}
	}
	return p
}

// Name returns a player's number and name.
func (p *page) Name(player lockstep.Player) string { return p.name(player) }

// Graded says how well the verdict is known.
func (p *page) Graded() string { return pages.Capital(p.Verdict.graded()) }

// PanicFrames returns the functions of the rules at the top of the stack of a panic.
func (p *page) PanicFrames() []stackFrame { return stackFrames(p.Panic.Stack) }

// Sentence returns text as the beginning of a sentence.
func (p *page) Sentence(text string) string { return pages.Capital(text) }

// Values says whose are the two values of a field.
func (p *page) Values() string { return pages.Capital(p.values()) }

func (p *page) row(who *Participant) pageRow {
	r := pageRow{Label: p.name(who.Player), Differs: who.Differs}
	for i, c := range p.Columns {
		ticks := fmt.Sprintf("ticks %d to %d", c.From, c.To)
		switch x := i * columnWide; {
		case who.Cells[i] > 0:
			r.Checks = append(r.Checks, pageBar{x, columnWide - 1, "bad", fmt.Sprintf("%s: differed at %d of %d checks", ticks, who.Cells[i], max(c.Checks, who.Cells[i]))})
		case c.Checks > 0 && c.To >= who.Joined:
			r.Checks = append(r.Checks, pageBar{x, columnWide - 1, "ok", fmt.Sprintf("%s: no difference logged at %d checks", ticks, c.Checks)})
		}
	}
	return r
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
	if own.Parting != nil && e.Verdict.Party != NoFixedResult && e.Twin == nil {
		e.unfix(own.Parting, e.Verdict.Runs+1)
		e.Fingerprint = NewFingerprint(e.Game, ClassUnstable, "", own.Parting.Field, "")
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

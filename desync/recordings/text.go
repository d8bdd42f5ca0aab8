package recordings

import (
	_ "embed" // the page's template
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/desync/internal/pages"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// Title returns the answer in one line: what differs, when, and between whom.
func (d *Divergence) Title() string {
	if r := d.unstable(); r != nil {
		return fmt.Sprintf("no fixed result: %s at tick %d, in a second run of %s", diff.PlaceText(nil, 0, strings.Join(r.Sections, ", ")), r.Tick, r.Side)
	}
	if !d.Differs || d.Cause == CauseCommands || d.Cause == CauseOrder {
		return d.Verdict()
	}
	var first *state.Place
	if len(d.Places.List) > 0 && d.FieldsTick == d.Tick && d.path == "" {
		first = &d.Places.List[0]
	}
	who := "A | B"
	if a, b := d.A.Player, d.B.Player; a != nil && b != nil && *a != *b {
		who = fmt.Sprintf("player %d | player %d", *a, *b)
	}
	when := d.Diverged()
	if !d.Exact && !d.Known {
		when = fmt.Sprintf("at tick %d, the first that both know", d.Tick)
	}
	return fmt.Sprintf("%s %s%s, %s", diff.PlaceText(first, d.Fields.Total, strings.Join(d.Sections, ", ")), when, d.Traces.in(), who)
}

// Verdict says in one sentence what the recordings show.
func (d *Divergence) Verdict() string {
	switch d.Cause {
	case CauseCommands:
		text := fmt.Sprintf("the machines ran different commands in tick %d", d.Frame.Tick)
		if !d.Differs {
			text += ", and no state is known to differ"
		}
		return text
	case CauseOrder:
		return fmt.Sprintf("the machines ran the same commands of tick %d with the players in another order", d.Order)
	case CauseStart, CauseStates:
		return d.computed() + d.others() + d.lacks()
	case CausePhases:
		t, _ := d.Traces.latest()
		return fmt.Sprintf("the steps to tick %d differ: they part%s; no state is known to differ", t, d.Traces.in())
	case CauseRerun:
		for _, r := range d.Reruns {
			if !r.Commands {
				return fmt.Sprintf("%s is not deterministic: a second run of the same commands differs from the first at tick %d", r.Side, r.Tick)
			}
		}
	}
	if err := d.Uncompared(); err != nil {
		return err.Error()
	}
	text := "nothing differs"
	if d.early > 0 {
		text = "no state differs"
	}
	if name := d.Early(); name != "" {
		text += fmt.Sprintf(" up to tick %d, where %s ends early", max(1, min(d.A.Ticks, d.B.Ticks))-1, name)
	} else if d.Known && d.Agreed < max(d.A.span().To, d.B.span().To) {
		text += fmt.Sprintf(" up to tick %d, the last that both know", d.Agreed)
	}
	if d.early > 0 {
		text += fmt.Sprintf(", though the commands of tick %d do", d.early)
	}
	return text
}

// computed says when the states differ, and what is known of the commands since they were equal.
func (d *Divergence) computed() string {
	text, since, from := "they begin with different states", lockstep.Tick(0), ""
	switch {
	case d.Known:
		since = d.Agreed
		text = fmt.Sprintf("the states agree at tick %d and differ at tick %d", d.Agreed, d.Tick)
	case d.Tick > 0:
		if since = max(d.A.First, d.B.First); since > 0 {
			from = fmt.Sprintf(" since tick %d", since)
		}
		text = fmt.Sprintf("the states differ at tick %d, the first that both know", d.Tick)
	}
	if since == d.Tick {
		return text
	}
	if !d.A.commands && !d.B.commands {
		return text + "; no commands were recorded"
	}
	for i, r := range []*Recording{d.A.Recording, d.B.Recording} {
		name := "AB"[i : i+1]
		if !r.commands {
			return text + fmt.Sprintf("; %s has no commands, so whether they were the same is unknown", name)
		}
		if s, some := r.unheard(since, d.Tick); some {
			return text + fmt.Sprintf("; %s does not have the commands of %s, so whether they were the same is unknown", name, ticksText(s))
		}
	}
	return text + ", from the same commands" + from
}

// others says what else differs between the machines.
func (d *Divergence) others() (text string) {
	if a, b := d.A.Build, d.B.Build; a != b && a != replay.ForeignBuild && b != replay.ForeignBuild {
		text += fmt.Sprintf("; the builds are %q and %q", a, b)
	}
	if a, b := d.A.Platform, d.B.Platform; a != b && a != replay.ForeignPlatform && b != replay.ForeignPlatform {
		text += fmt.Sprintf("; the platforms are %q and %q", a, b)
	}
	return text
}

// resumed returns the last tick before they differ at which one side began, or went on after a gap, and the other had gone on; 0
// for none.
func (d *Divergence) resumed() (t lockstep.Tick) {
	for _, sides := range [][2]*Recording{{d.A.Recording, d.B.Recording}, {d.B.Recording, d.A.Recording}} {
		if sides[0].First > sides[1].First {
			t = max(t, sides[0].First)
		}
		for _, g := range sides[0].Gaps {
			if g.To < d.Tick && !slices.Contains(sides[1].Gaps, g) {
				t = max(t, g.To+1)
			}
		}
	}
	return t
}

// lacks says what of the match one side has not recorded before they differ: the state after that may lack something.
func (d *Divergence) lacks() (text string) {
	sides := []struct {
		name string
		of   *Recording
	}{{"A", d.A.Recording}, {"B", d.B.Recording}}
	for i, s := range sides {
		other := sides[1-i].of
		if s.of.First > other.First {
			text += fmt.Sprintf("; %s begins at tick %d: look for what its first state lacks", s.name, s.of.First)
		}
		for _, g := range s.of.Gaps {
			if g.From <= d.Tick && !slices.Contains(other.Gaps, g) {
				text += fmt.Sprintf("; %s has nothing of %s: look for what its state after that lacks", s.name, ticksText(g))
				break
			}
		}
	}
	return text
}

// WriteText writes the result for people, the answer first, in lines of at most 80 columns where the names allow it. Control characters in
// texts of the files are escaped.
func (d *Divergence) WriteText(w io.Writer) error {
	var p words.Page
	add := p.Line
	verdict := d.Verdict()
	if title := d.Title(); title != verdict {
		add("answer", "%s", title)
	}
	add("verdict", "%s", verdict)
	if d.Missing != nil {
		p.Line("missing", "the %s; %s with", d.Missing.states(), d.Missing.who())
		p.Command("", "SAMESTEP_DUMP="+d.Missing.Dump)
	}
	d.A.describe("A", add)
	d.B.describe("B", add)
	for i, line := range d.commandLines() {
		add(words.First("commands", i), "%s", line)
	}
	add("compared", "%s", d.compared())
	if d.Differs {
		add("diverged", "%s", d.Diverged())
	}
	if len(d.Sections) > 0 {
		add("sections", "%s", strings.Join(d.Sections, ", "))
	}
	for _, line := range d.TraceLines() {
		add(line[0], "%s", line[1])
	}
	d.fieldLines(add)
	for _, r := range d.Reruns {
		add("rerun", "%s", r.String())
	}
	for _, note := range d.Notes {
		add("note", "%s", note)
	}
	return p.Write(w)
}

// TraceLines say which phase and which draws differ first, a name and a text each.
func (d *Divergence) TraceLines() [][2]string { return d.Traces.lines(d.Differs, d.Tick) }

func (s *Side) describe(name string, add func(name, format string, args ...any)) {
	add(name, "%s: %s", s.File, s.Recording)
	for _, r := range s.More {
		add("", "%s: %s", r.File, r)
	}
}

// commandLines describes the commands that differ. A tick of the lines is one less than the tick of a replay.
func (d *Divergence) commandLines() []string {
	if d.Commands == nil {
		text, first, last := "the same", max(d.A.First, d.B.First), min(d.A.Ticks, d.B.Ticks)
		if d.early > 0 {
			first = max(first, d.Agreed)
		}
		switch {
		case !d.A.commands && !d.B.commands:
			return []string{"none were recorded"}
		case !d.A.commands:
			return []string{"A has none"}
		case !d.B.commands:
			return []string{"B has none"}
		case first >= last:
			return []string{"none of a tick that both have"}
		case first > 0:
			text += fmt.Sprintf(" from tick %d on", first+1)
		}
		text += fmt.Sprintf(" up to tick %d", last)
		if len(d.A.Gaps)+len(d.B.Gaps) > 0 {
			text += ", where both have them"
		}
		if d.Order > 0 {
			text += fmt.Sprintf(", but in tick %d with the players in another order", d.Order)
		}
		return []string{text}
	}
	lines := d.Commands.Lines()
	lines[0] += fmt.Sprintf(" (t %d in the recordings)", d.Frame.Tick-1)
	return lines
}

func (d *Divergence) compared() string {
	if d.Compared == 0 {
		return "no checksums: there is no tick of which both have one"
	}
	if d.Differed == 0 {
		return fmt.Sprintf("the checksums of %s, all equal", words.Count(d.Compared, "tick"))
	}
	return fmt.Sprintf("the checksums of %s, different in %d of them", words.Count(d.Compared, "tick"), d.Differed)
}

// Diverged says when the states begin to differ.
func (d *Divergence) Diverged() string {
	switch {
	case d.Exact:
		return fmt.Sprintf("at tick %d", d.Tick)
	case !d.Known:
		return fmt.Sprintf("at tick %d at the latest, the first that both know", d.Tick)
	}
	return fmt.Sprintf("after tick %d, at tick %d at the latest", d.Agreed, d.Tick)
}

func (d *Divergence) fieldLines(add func(name, format string, args ...any)) {
	if d.FieldsTick == 0 && d.Fields.Total == 0 && !d.asked {
		return
	}
	later := ""
	if d.Differs && d.FieldsTick > d.Tick && !d.asked {
		later = ", the next state that both have"
	}
	if d.Fields.Total == 0 {
		at := ""
		if d.path != "" {
			at = " at " + d.path
		}
		add("state", "tick %d: nothing differs%s", d.FieldsTick, at)
		return
	}
	flipped := ""
	if d.Flipped {
		flipped = ": a single flipped bit"
	}
	add("state", "tick %d: %s in %s%s%s", d.FieldsTick, words.Plural(d.Fields.Total, "field", "differs", "differ"), words.Count(len(d.Places.List), "place"), later, flipped)
	for _, line := range d.Places.Lines(d.limit) {
		add("", "%s", line)
	}
}

// String says how the recording differs from the first one of its side.
func (r *Rerun) String() string {
	if r.Commands {
		return fmt.Sprintf("%s has other commands than the first recording of %s in tick %d: only the ticks before are used", r.File, r.Side, r.Tick)
	}
	in := ""
	if len(r.Sections) > 0 {
		in = " in " + strings.Join(r.Sections, ", ")
	}
	return fmt.Sprintf("%s differs from the first recording of %s at tick %d%s, from the same commands", r.File, r.Side, r.Tick, in)
}

// MarshalJSON returns the result as samestep replay bisect --json prints it.
func (d *Divergence) MarshalJSON() ([]byte, error) {
	type plain Divergence // without this method
	return json.Marshal(struct {
		*plain
		Same    bool   `json:"same"`
		Title   string `json:"title"`
		Verdict string `json:"verdict"`
	}{(*plain)(d), d.Cause == CauseNone && d.Uncompared() == nil, d.Title(), d.Verdict()})
}

// MissingStates are states that nobody has recorded.
type MissingStates struct {
	A    []desync.Span `json:"a"` // ticks of which A lacks the state
	B    []desync.Span `json:"b"`
	Dump string        `json:"dump"` // SAMESTEP_DUMP for a recorder
}

// String says which states are missing, and what to run.
func (m *MissingStates) String() string {
	return fmt.Sprintf("the %s; %s with SAMESTEP_DUMP=%s", m.states(), m.who(), m.Dump)
}

func (m *MissingStates) states() string {
	switch {
	case len(m.A) == 0:
		return spanText(m.B)
	case len(m.B) > 0 && fmt.Sprint(m.A) != fmt.Sprint(m.B):
		return fmt.Sprintf("%s of A, and the %s of B", spanText(m.A), spanText(m.B))
	}
	return spanText(m.A)
}

// who says which games to run again.
func (m *MissingStates) who() string {
	switch {
	case len(m.A) == 0:
		return "run the game of B again"
	case len(m.B) == 0:
		return "run the game of A again"
	}
	return "run both games again"
}

// spanText returns "state of tick 77", "states of ticks 77 and 78", or "states of ticks 60 to 80 and 90".
func spanText(spans []desync.Span) string {
	parts := spanParts(spans, " to ")
	if len(spans) == 1 && spans[0].Exact() {
		return "state of tick " + parts[0]
	}
	return "states of ticks " + words.List(parts)
}

// WriteHTML writes the result as one self-contained page, without scripts, fonts or network requests. It escapes everything
// that comes from the recordings.
func (d *Divergence) WriteHTML(w io.Writer) error {
	p := &divergencePage{Divergence: d, Tree: pages.Tree(d.Fields.List), Cut: d.Fields.Total > len(d.Fields.List)}
	p.Frames = d.commandLines()
	for _, s := range []*Side{&d.A, &d.B} {
		for _, r := range append([]*Recording{s.Recording}, s.More...) {
			row := divergenceRow{Recording: r, Side: "A", Last: words.Count(r.Ticks, "tick")}
			if s == &d.B {
				row.Side = "B"
			}
			p.Rows = append(p.Rows, row)
		}
	}
	return pages.Write(w, "divergence.html", p)
}

// A divergencePage is the data of the template.
type divergencePage struct {
	*Divergence
	Rows   []divergenceRow
	Frames []string
	Tree   []*pages.Branch
	Cut    bool
}

// Headline returns the verdict as a sentence.
func (p *divergencePage) Headline() string { return pages.Capital(p.Verdict()) }

// A divergenceRow describes one recording.
type divergenceRow struct {
	*Recording
	Side, Last string
}

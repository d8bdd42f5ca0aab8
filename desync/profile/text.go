package profile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-49bee653/samestep/internal/words"
)

const (
	shownCounts  = 6 // commands and lists of a tick in the text; JSON has all
	shownColumns = 3 // lists in the table of growth
)

// WriteText writes the profile for people.
func (p *Profile) WriteText(w io.Writer) error {
	var page words.Page
	page.Line("match", "%s", p.title())
	page.Line("measured", "%s", p.measured())
	for i, line := range p.faults() {
		page.Line(words.First("but", i), "%s", line)
	}
	page.Line("step", "%s", p.steps())
	if len(p.Phases) == 0 {
		page.Line("phases", "%s", p.unmarked())
	} else {
		add(&page, "phases", p.phaseTable())
	}
	if p.Allocations != nil {
		page.Line("allocated", "%s", p.allocated())
	}
	for i, line := range p.worstLines() {
		page.Line(words.First("worst", i), "%s", line)
	}
	add(&page, "growth", p.growthTable())
	return page.Write(w)
}

func (p *Profile) title() string {
	return fmt.Sprintf("%s build %s, match %s, ticks %d to %d", p.Game, p.Build, p.Match, p.From, p.To)
}

// measured says what was measured where, and nothing that is not known.
func (p *Profile) measured() string {
	runs := "once"
	if p.Runs > 1 {
		runs = fmt.Sprintf("%d times, of each tick the quickest counts", p.Runs)
	}
	return fmt.Sprintf("Step of each tick %s; here, not in the match: %s, %s, %s. %s of the file agreed", runs, p.Platform, words.Count(p.Processors, "processor"), p.Go, words.Count(p.Agreed, "checksum"))
}

// faults are why the profile may not be that of the match.
func (p *Profile) faults() (lines []string) {
	if p.Desync != "" {
		lines = append(lines, "the simulation contradicts the file, so it is that of another match from there on: "+p.Desync)
	}
	if p.Panic != "" {
		lines = append(lines, "the ticks end with a panic: "+p.Panic)
	}
	if p.Damage != "" {
		lines = append(lines, fmt.Sprintf("the file is readable up to tick %d only: %s", p.To, p.Damage))
	}
	return lines
}

func (p *Profile) steps() string {
	text := fmt.Sprintf("p50 %s, p99 %s, max %s in tick %d; %s in all", microText(p.Step.P50), microText(p.Step.P99), microText(p.Step.Max), p.Step.At, microText(p.Step.Total))
	if p.TickUS > 0 {
		text += fmt.Sprintf("; p99 is %s of the %s of a tick", percent(p.Step.P99/p.TickUS), microText(p.TickUS))
	}
	return text
}

func (p *Profile) unmarked() string {
	if p.Elsewhere {
		return "not timed, because the rules run in a module: only whole ticks are, with the way into it"
	}
	return "none: the rules mark no phases (Turn.Phase)"
}

func (p *Profile) allocated() string {
	a := p.Allocations
	if a.Most == 0 {
		return "nothing"
	}
	text := fmt.Sprintf("%s and %s a tick, at most %s in tick %d", words.Count(int64(a.Objects+0.5), "object"), words.Size(int64(a.Bytes+0.5)), words.Count(a.Most, "object"), a.At)
	if all := len(p.total); p.Counted < all {
		text += fmt.Sprintf("; counted in %d of %d ticks", p.Counted, all)
	}
	return text
}

// phaseTable has the slowest phase first.
func (p *Profile) phaseTable() [][]string {
	rows := [][]string{{"phase", "share", "p50", "p99", "max", "in tick"}}
	if !p.Elsewhere {
		rows[0] = append(rows[0], "objects", "bytes")
	}
	order := slices.Clone(p.Phases)
	slices.SortStableFunc(order, func(a, b Phase) int { return cmp.Compare(b.Total, a.Total) })
	for _, x := range order {
		row := []string{phaseName(x.Name), percent(x.Share), microText(x.P50), microText(x.P99), microText(x.Max), fmt.Sprint(x.At)}
		if a := x.Allocations; a != nil {
			row = append(row, words.Digits(a.Objects, 3), words.Size(int64(a.Bytes+0.5)))
		}
		rows = append(rows, row)
	}
	return rows
}

// changing returns the lists whose lengths differ between the tenths, by how much, the most first.
func (p *Profile) changing() []Count {
	least, most := make(map[string]int), make(map[string]int)
	for i := range p.Tenths {
		for _, l := range p.Tenths[i].Lists {
			if v, ok := least[l.Name]; !ok || l.N < v {
				least[l.Name] = l.N
			}
			most[l.Name] = max(most[l.Name], l.N)
		}
	}
	grown := make(map[string]int, len(most))
	for name, n := range most {
		if n > least[name] {
			grown[name] = n - least[name]
		}
	}
	return sorted(grown)
}

// growthTable has the lists whose lengths change most.
func (p *Profile) growthTable() [][]string {
	columns := p.changing()
	columns = columns[:min(len(columns), shownColumns)]
	rows := [][]string{{"ticks", "p50", "p99", "max", "state"}}
	for _, c := range columns {
		rows[0] = append(rows[0], c.Name)
	}
	for _, x := range p.Tenths {
		row := []string{fmt.Sprintf("%d to %d", x.From, x.To), microText(x.P50), microText(x.P99), microText(x.Max), words.Size(x.Bytes)}
		for _, c := range columns {
			row = append(row, fmt.Sprint(countOf(x.Lists, c.Name)))
		}
		rows = append(rows, row)
	}
	return rows
}

func countOf(all []Count, name string) int {
	for _, c := range all {
		if c.Name == name {
			return c.N
		}
	}
	return 0
}

// worstLines has a line for each of the worst ticks, with the lists that change in the match.
func (p *Profile) worstLines() (lines []string) {
	changing := p.changing()
	for i := range p.Worst {
		t := p.Worst[i]
		var lists []Count
		for _, c := range changing {
			lists = append(lists, Count{c.Name, countOf(t.Lists, c.Name)})
		}
		t.Lists = lists
		lines = append(lines, t.text())
	}
	return lines
}

func (t *Tick) text() string {
	text := fmt.Sprintf("tick %d: %s", t.Tick, microText(t.US))
	if len(t.Phases) > 0 {
		var parts []string
		for _, x := range t.Phases[:min(len(t.Phases), shownCounts)] {
			parts = append(parts, phaseName(x.Name)+" "+microText(x.US))
		}
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	text += "; " + counted(t.Commands, "no commands")
	if len(t.Lists) > 0 {
		text += "; " + counted(t.Lists, "")
	}
	return text + "; state " + words.Size(t.Bytes)
}

func counted(all []Count, without string) string {
	if len(all) == 0 {
		return without
	}
	var parts []string
	for _, c := range all[:min(len(all), shownCounts)] {
		parts = append(parts, fmt.Sprintf("%s ×%d", c.Name, c.N))
	}
	return strings.Join(parts, ", ")
}

func phaseName(name string) string { return cmp.Or(name, "before the first") }

func percent(share float64) string { return words.Digits(100*share, 2) + " %" }

// microText returns microseconds with three digits.
func microText(us float64) string {
	switch {
	case us < 1000:
		return words.Digits(us, 3) + " µs"
	case us < 1e6:
		return words.Digits(us/1000, 3) + " ms"
	}
	return words.Digits(us/1e6, 3) + " s"
}

// add adds a table whose columns after the first are to the right.
func add(page *words.Page, name string, rows [][]string) {
	var wide []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(cell + space)
			} else {
				b.WriteString("  " + space + cell)
			}
		}
		page.Whole(words.First(name, n), b.String())
	}
}

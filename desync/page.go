package desync

import (
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/desync/internal/pages"
	"github.com/seed-49bee653/samestep/lockstep"
)

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
	CostBars                        []pageBar
	CostWide                        int
	CostFrom, CostTo                lockstep.Tick
	CostMost                        int64
}

// A pageRow is one participant's row of the time line.
type pageRow struct {
	Label, Rate string
	Differs     bool
	Checks      []pageBar
	Bars        []pageBar
}

type pageBar struct {
	X, Y, W, H   int
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
	p.costs()
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
	most := 1
	for i := range p.Columns {
		most = max(most, who.Cells[i].Commands)
	}
	for i, c := range p.Columns {
		cell := who.Cells[i]
		ticks := fmt.Sprintf("ticks %d to %d", c.From, c.To)
		switch x := i * columnWide; {
		case cell.Mismatches > 0:
			r.Checks = append(r.Checks, pageBar{X: x, W: columnWide - 1, Class: "bad", Title: fmt.Sprintf("%s: differed at %d of %d checks", ticks, cell.Mismatches, max(c.Checks, cell.Mismatches))})
		case c.Checks > 0 && c.To >= who.Joined:
			r.Checks = append(r.Checks, pageBar{X: x, W: columnWide - 1, Class: "ok", Title: fmt.Sprintf("%s: no difference logged at %d checks", ticks, c.Checks)})
		}
		if n := cell.Commands; n > 0 {
			h := max(20*n/most, 1)
			r.Bars = append(r.Bars, pageBar{X: i * columnWide, Y: 20 - h, W: columnWide - 1, H: h, Title: fmt.Sprintf("%s: %d commands", ticks, n)})
		}
	}
	if p.TickRate > 0 && p.LastTick > 0 {
		r.Rate = fmt.Sprintf("%d a minute", int64(who.Commands)*60*int64(p.TickRate)/int64(p.LastTick))
	}
	return r
}

// costs draws the time of each tick, in at most maxCostBars bars.
func (p *page) costs() {
	const maxCostBars = 256
	list := p.Costs[max(len(p.Costs)-maxCostBars, 0):]
	for _, c := range list {
		p.CostMost = max(p.CostMost, c.Micros)
	}
	if p.CostMost == 0 {
		return
	}
	p.CostFrom, p.CostTo, p.CostWide = list[0].Tick, list[len(list)-1].Tick, columnWide*len(list)
	for i, c := range list {
		h := max(int(50*c.Micros/p.CostMost), 1)
		p.CostBars = append(p.CostBars, pageBar{X: i * columnWide, Y: 50 - h, W: columnWide - 1, H: h, Title: fmt.Sprintf("tick %d: %d µs", c.Tick, c.Micros)})
	}
}

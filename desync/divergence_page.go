package desync

import (
	_ "embed" // the page's template
	"io"

	"github.com/seed-49bee653/samestep/desync/internal/pages"
	"github.com/seed-49bee653/samestep/internal/words"
)

// WriteHTML writes the result as one self-contained page, without scripts, fonts or network requests. It escapes everything
// that comes from the recordings.
func (d *Divergence) WriteHTML(w io.Writer) error {
	p := &divergencePage{Divergence: d, Tree: pages.Tree(d.Fields.List), Cut: d.Fields.Total > len(d.Fields.List)}
	p.Frames = d.commandLines()
	for _, s := range []*RecordedSide{&d.A, &d.B} {
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

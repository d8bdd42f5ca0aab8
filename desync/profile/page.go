package profile

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-49bee653/samestep/desync/internal/pages"
)

const (
	chartWide, chartHigh = 1000, 260
	chartColumns         = 250
)

// A layer is a phase in the chart.
type layer struct {
	Name, Points string
	Hue          int
}

// WriteHTML writes the profile as a page for browsers, which needs nothing else.
func (p *Profile) WriteHTML(w io.Writer) error {
	layers, most := p.chart()
	data := struct {
		*Profile
		Title, Measured, Steps, Unmarked, Allocated, Most string
		Faults, WorstLines                                []string
		PhaseRows, GrowthRows                             [][]string
		Layers                                            []layer
		Wide, High                                        int
	}{
		Profile: p, Title: p.title(), Measured: p.measured(), Steps: p.steps(), Unmarked: p.unmarked(), Most: microText(most),
		Faults: p.faults(), WorstLines: p.worstLines(), GrowthRows: p.growthTable(), Layers: layers, Wide: chartWide, High: chartHigh,
	}
	if p.Allocations != nil {
		data.Allocated = p.allocated()
	}
	if len(p.Phases) > 0 {
		data.PhaseRows = p.phaseTable()
	}
	return pages.Write(w, "profile.html", data)
}

// chart returns the phases as areas on each other, and the time at the upper edge: in each column, the slowest tick.
func (p *Profile) chart() (layers []layer, most float64) {
	n := len(p.total)
	columns := min(n, chartColumns)
	at := make([]int, columns) // the slowest ticks
	for c := range at {
		at[c] = c * n / columns
		for i := at[c]; i < (c+1)*n/columns; i++ {
			if p.total[i] > p.total[at[c]] {
				at[c] = i
			}
		}
		most = max(most, p.total[at[c]])
	}
	names, times := []string{"Step"}, [][]float64{p.total}
	if len(p.Phases) > 0 {
		names, times = nil, p.of
		for i := range p.Phases {
			names = append(names, phaseName(p.Phases[i].Name))
		}
	}
	below := make([]float64, columns)
	for k, name := range names {
		var up, down []string
		for c, i := range at {
			x := float64(c) * chartWide / float64(max(columns-1, 1))
			point := func() string { return fmt.Sprintf("%.1f,%.1f", x, chartHigh-below[c]/max(most, 1e-9)*chartHigh) }
			down = append(down, point())
			if i < len(times[k]) {
				below[c] += max(times[k][i], 0)
			}
			up = append(up, point())
		}
		for c := range down {
			up = append(up, down[len(down)-1-c])
		}
		layers = append(layers, layer{name, strings.Join(up, " "), k * 360 / len(names)})
	}
	return layers, most
}

//go:build !js

package replays

import (
	"strings"
)

// A watchReport is the result of one look, in all forms of output.
type watchReport struct {
	title  string
	facts  []watchFact
	table  watchTable
	line   string // a summary
	values any    // for JSON
	over   bool   // nothing will change any more
}

// A watchFact is a value with a name. A wrong one is highlighted.
type watchFact struct {
	name, value string
	wrong       bool
}

// A watchTable has a row for each player or match. The last column is a sparkline.
type watchTable struct {
	columns []string
	rows    [][]string
}

const watchHistory = 40 // values of a sparkline

// A trend is the latest values of a rate, the oldest first.
type trend []float64

func (t *trend) push(v float64) {
	if *t = append(*t, v); len(*t) > watchHistory {
		*t = append((*t)[:0], (*t)[1:]...)
	}
}

// spark draws each value as one character, on a scale from 0 to the largest.
func (t trend) spark() string {
	top := 0.0
	for _, v := range t {
		top = max(top, v)
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range t {
		if v <= 0 {
			b.WriteByte('_')
		} else {
			b.WriteRune(bars[min(int(v/top*float64(len(bars))), len(bars)-1)])
		}
	}
	return b.String()
}

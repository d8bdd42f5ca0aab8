package main

import (
	"bytes"
	"strings"
)

// A watchReport is what one look saw, in the forms that it is shown in.
type watchReport struct {
	title  string
	facts  []watchFact
	table  watchTable
	line   string // all of it, in one line
	values any    // for JSON
	over   bool   // there is nothing more to come
}

// A watchFact is a value with a name. One that is wrong stands out.
type watchFact struct {
	name, value string
	wrong       bool
}

// A watchTable has one row for each player or match. The last column is a
// sparkline.
type watchTable struct {
	columns []string
	rows    [][]string
}

// watchHistory is how many values a sparkline shows.
const watchHistory = 40

// A trend is the latest values of something, the oldest first.
type trend []float64

// push adds a value.
func (t *trend) push(v float64) {
	if *t = append(*t, v); len(*t) > watchHistory {
		*t = append((*t)[:0], (*t)[1:]...)
	}
}

// spark draws values from 0 to the largest of them, one character each.
func (t trend) spark() string {
	top := 0.0
	for _, v := range t {
		top = max(top, v)
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range t {
		switch {
		case v <= 0:
			b.WriteByte('_')
		default:
			b.WriteRune(bars[min(int(v/top*float64(len(bars))), len(bars)-1)])
		}
	}
	return b.String()
}

// shown returns a text from a file or a server so that it cannot steer a
// terminal, nor break a table.
func shown(s string) string {
	var b bytes.Buffer
	c := &cleaner{w: &b}
	c.Write([]byte(s + " ")) // the space ends a character that was cut
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(strings.TrimSuffix(strings.ToValidUTF8(b.String(), "?"), " "))
}

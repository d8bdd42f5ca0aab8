package line

import (
	"fmt"
	"strings"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/internal/words"
)

// coverage are the places that ran on the two sides before the first difference.
type coverage struct {
	lines [2]map[place]bool // whether a probe of the line ran; no entry for a line without probes
	funcs [2]map[string]bool
}

type place struct {
	file string
	line int
}

// ranBefore returns what ran in the tick before the first difference, and all that ran in it if there is none.
func (s *search) ranBefore(sides [2]*side) *coverage {
	var c coverage
	for i, one := range sides {
		ran := s.ran[i]
		c.lines[i], c.funcs[i] = map[place]bool{}, map[string]bool{}
		for n := range one.source.Sites {
			site := &one.source.Sites[n]
			at := place{site.File, site.Line}
			c.lines[i][at] = c.lines[i][at] || ran[n]
			if ran[n] {
				for fn := site.Func; ; {
					c.funcs[i][fn] = true
					dot := strings.LastIndex(fn, ".func")
					if dot < 0 {
						break
					}
					fn = fn[:dot]
				}
			}
		}
	}
	return &c
}

// has reports whether a changed line ran on a side: a probe of it, or its function if it has no probe.
func (c *coverage) has(change *weave.Change) bool {
	for i, line := range change.Line {
		if line == 0 {
			continue
		}
		ran, ok := c.lines[i][place{change.File, line}]
		if ran || !ok && c.funcs[i][change.Func[i]] {
			return true
		}
	}
	return false
}

// String says where the data differ, and how.
func (d *Datum) String() string {
	at := d.Where[1]
	if at == nil {
		at = d.Where[0]
	}
	switch {
	case at == nil:
		return fmt.Sprintf("the data differ: %s is %s | %s", d.Name, none(d.Values[0]), none(d.Values[1]))
	case d.Name == "":
		return fmt.Sprintf("the data differ: %s:%d  %s | %s", at.File, at.Line, none(d.Values[0]), none(d.Values[1]))
	}
	return fmt.Sprintf("the data differ: %s:%d  %s is %s | %s", at.File, at.Line, d.Name, none(d.Values[0]), none(d.Values[1]))
}

// addDifferences describes what the sides differ in besides the place that was found.
func (r *Result) addDifferences(p *words.Page) {
	label := "data"
	for i := range r.Data {
		text := r.Data[i].String()
		if !r.Data[i].Read || i > 0 {
			text = "consistent with it: " + text
		}
		p.Line(label, "%s", text)
		label = ""
	}
	if !r.Searched {
		return
	}
	if len(r.Changed) == 0 {
		p.Line("changed", "no changed line with a probe ran in the tick before it")
		return
	}
	lines := words.Count(len(r.Changed), "changed line")
	if r.Finding == nil {
		p.Line("changed", "consistent with it: %s; what differs arose in a tick before", lines)
	} else {
		p.Line("changed", "consistent with it: %s that ran in the tick before it, or before the match", lines)
	}
	for i := range r.Changed[:min(len(r.Changed), maxListed)] {
		c := &r.Changed[i]
		at := c.Where[1]
		if at == nil {
			at = c.Where[0]
		}
		p.Line("", "    %s:%d  %s | %s", at.File, at.Line, source(c.Where[0]), source(c.Where[1]))
	}
}

// source returns the text of a place.
func source(p *Place) string {
	if p == nil {
		return none("")
	}
	return p.Source
}

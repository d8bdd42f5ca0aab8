package line

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/desync/probe"
	"github.com/seed-49bee653/samestep/desync/probe/program"
)

// differences looks for what the sides differ in besides the place that was found, unless that is in a changed line.
func (s *search) differences(ctx context.Context, sides [2]*side) error {
	changes := weave.Changed(sides[0].source, sides[1].source)
	if s.result.Tick == 0 || s.explained(changes) || s.seenAt(changes) {
		return nil
	}
	found, err := s.data(ctx, sides)
	if err != nil {
		return err
	}
	files, err := embedded(sides)
	if err != nil {
		return err
	}
	if read := s.readAt(sides, found); read != nil {
		s.addData(read, files, changes, sides)
		return nil
	}
	for _, f := range files {
		s.result.Data = append(s.result.Data, Datum{Where: f.where, Values: f.values()})
	}
	ran := s.ranBefore(sides)
	for i := range changes { // without a finding, what differs arose in a tick before
		if c := &changes[i]; c.Initial || s.result.Finding == nil || ran.has(c) {
			s.result.Changed = append(s.result.Changed, Change{placesOf(c)})
		}
	}
	if s.result.Searched = len(changes) > 0 || len(files) > 0; s.result.Searched && s.result.Finding != nil {
		s.result.Finding.Unchanged = true
	}
	return nil
}

// explained reports whether the place that was found is in a changed line, or one that another line was moved over.
func (s *search) explained(changes []weave.Change) bool {
	f := s.result.Finding
	if f == nil {
		return false
	}
	a, b := f.Where[0], f.Where[1]
	return slices.ContainsFunc(changes, func(c weave.Change) bool {
		return a.isLine(c.File, c.Line[0]) || b.isLine(c.File, c.Line[1]) || a != nil && b != nil && a.File == c.File && movedOver(changes, &c, a.Line, b.Line)
	})
}

// seenAt makes the first probe that differs the finding if its line was changed: then it shows the difference, and makes it.
func (s *search) seenAt(changes []weave.Change) bool {
	f := s.result.Finding
	if f == nil || f.First == nil {
		return false
	}
	text := strings.Join(strings.Fields(f.First.Source), " ")
	n := slices.IndexFunc(changes, func(c weave.Change) bool {
		return f.First.isLine(c.File, c.Line[1]) && strings.HasPrefix(text, c.Text[1]) || f.First.isLine(c.File, c.Line[0]) && strings.HasPrefix(text, c.Text[0])
	})
	if n < 0 {
		return false
	}
	f.Where, f.First = placesOf(&changes[n]), nil
	return true
}

// movedOver reports whether a line that was taken away on one side of a line stands on its other side now.
func movedOver(changes []weave.Change, away *weave.Change, a, b int) bool {
	return strings.Trim(away.Text[0], "{}() ") != "" && slices.ContainsFunc(changes, func(c weave.Change) bool {
		return c.File == away.File && c.Line[1] > 0 && c.Func[1] == away.Func[0] && c.Text[1] == away.Text[0] && (away.Line[0] < a) != (c.Line[1] < b)
	})
}

func (p *Place) isLine(file string, line int) bool {
	return p != nil && p.File == file && p.Line == line
}

func placesOf(c *weave.Change) (where [2]*Place) {
	for i, line := range c.Line {
		if line > 0 {
			where[i] = &Place{c.File, line, cmp.Or(shortFunc(c.Func[i]), "the declarations of "+shortFunc(c.Package)), c.Text[i]}
		}
	}
	return where
}

// An unequal is a variable that differs, at its first part that does.
type unequal struct {
	variable string // with the path of its package
	part     string
	values   [2]string
}

// data compares package variables before the match. Each side tells them twice, which sorts out addresses.
func (s *search) data(ctx context.Context, sides [2]*side) (all []unequal, err error) {
	var told [2][2]*job
	for n := range told {
		j := program.Job{Kind: program.Data}
		if told[n], err = s.pair(ctx, fmt.Sprintf("data%d", n), sides, [2]program.Job{j, j}); err != nil {
			return nil, err
		}
	}
	var fixed [2]map[string]map[string]string // by variable and path: the values
	for i := range fixed {
		fixed[i] = fixedParts(told[0][i].result.Data, told[1][i].result.Data)
	}
	for _, v := range told[0][0].result.Data {
		if d, ok := differs(v, fixed[0][v.Name], fixed[1][v.Name]); ok {
			all = append(all, d)
		}
	}
	return all, nil
}

// fixedParts returns the parts that have the same values in two runs, by variable and path.
func fixedParts(a, b []probe.Variable) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, v := range a {
		all[v.Name] = map[string]string{}
		for _, p := range v.Parts {
			all[v.Name][p.Path] = p.Value
		}
	}
	for _, v := range b {
		for _, p := range v.Parts {
			if all[v.Name][p.Path] != p.Value {
				delete(all[v.Name], p.Path)
			}
		}
	}
	return all
}

// differs returns the first part of a variable that differs.
func differs(v probe.Variable, a, b map[string]string) (unequal, bool) {
	if b == nil { // only one side has it
		return unequal{}, false
	}
	for _, p := range v.Parts {
		x, ok := a[p.Path]
		if y, has := b[p.Path]; ok && has && x != y {
			return unequal{v.Name, p.Path, [2]string{x, y}}, true
		}
	}
	return unequal{}, false
}

// A fileChange is the first line in which an embedded file differs.
type fileChange struct {
	pkg   string
	where [2]*Place
}

func (f *fileChange) values() (values [2]string) {
	for i, w := range f.where {
		if w != nil {
			values[i] = w.Source
		}
	}
	return values
}

// embedded compares the embedded files.
func embedded(sides [2]*side) (all []fileChange, err error) {
	var files [2][]weave.Embedded
	for i, one := range sides {
		if files[i], err = one.source.Embedded(); err != nil {
			return nil, err
		}
	}
	for _, b := range files[1] {
		n := slices.IndexFunc(files[0], func(a weave.Embedded) bool { return a.File == b.File })
		if n < 0 || bytes.Equal(files[0][n].Content, b.Content) {
			continue
		}
		f := fileChange{pkg: b.Package}
		x, y := strings.Split(string(files[0][n].Content), "\n"), strings.Split(string(b.Content), "\n")
		at := 0
		for at < min(len(x), len(y))-1 && x[at] == y[at] {
			at++
		}
		for i, lines := range [][]string{x, y} {
			f.where[i] = &Place{b.File, at + 1, "a file that " + shortFunc(b.Package) + " embeds", clipped(lines[at])}
		}
		all = append(all, f)
	}
	return all, nil
}

// readAt returns the differing variable that the found line reads, or else its function, or the caller; nil if there is none.
func (s *search) readAt(sides [2]*side, all []unequal) *unequal {
	f := s.result.Finding
	if f == nil || len(all) == 0 {
		return nil
	}
	places := []*Place{f.Where[1], f.Where[0], f.First}
	var callers []*Place
	if n := len(f.Path) - 2; n >= 0 {
		callers = append(callers, &f.Path[n])
	}
	sameLine := func(site *weave.Site, p *Place) bool { return site.Line == p.Line }
	sameFunc := func(site *weave.Site, p *Place) bool { return shortFunc(site.Func) == p.Func }
	for _, look := range []struct {
		places []*Place
		near   func(*weave.Site, *Place) bool
	}{{places, sameLine}, {places, sameFunc}, {callers, sameLine}, {callers, sameFunc}} {
		for _, p := range look.places {
			for _, one := range sides {
				for i := range one.source.Sites {
					site := &one.source.Sites[i]
					if p == nil || site.File != p.File || !look.near(site, p) {
						continue
					}
					if n := slices.IndexFunc(all, func(d unequal) bool { return d.readBy(site) }); n >= 0 {
						return &all[n]
					}
				}
			}
		}
	}
	return nil
}

// readBy reports whether a probe's expression reads the variable, or its line names one of its package.
func (d *unequal) readBy(site *weave.Site) bool {
	pkg, name := d.split()
	return slices.Contains(site.Uses, d.variable) || strings.HasPrefix(site.Func, pkg+".") && mentions(site.Source, name)
}

// split returns the path of the package and the name of the variable.
func (d *unequal) split() (pkg, name string) {
	dot := strings.LastIndex(d.variable, ".")
	return d.variable[:dot], d.variable[dot+1:]
}

// addData names what gave a variable another value: the file that its package embeds, or the code that ran before the match.
func (s *search) addData(d *unequal, files []fileChange, changes []weave.Change, sides [2]*side) {
	name := d.variable[strings.LastIndex(d.variable, "/")+1:]
	pkg, short := d.split()
	var ranks [3][]Datum
	add := func(rank int, where [2]*Place) {
		ranks[rank] = append(ranks[rank], Datum{name + d.part, d.values, where, true})
	}
	for _, f := range files {
		if f.pkg == pkg {
			add(0, f.where)
		} else {
			add(2, f.where)
		}
	}
	for i := range changes {
		c := &changes[i]
		if !c.Initial {
			continue
		}
		decl := sides[1].source.Decls[d.variable]
		inDecl := c.File == decl.File && decl.Line <= c.Line[1] && c.Line[1] <= decl.Line+strings.Count(decl.Text, "\n")
		switch {
		case inDecl || c.Package == pkg && (mentions(c.Text[0], short) || mentions(c.Text[1], short)):
			add(0, placesOf(c))
		case c.Package == pkg:
			add(1, placesOf(c))
		default:
			add(2, placesOf(c))
		}
	}
	all := slices.Concat(ranks[:]...)
	if len(all) == 0 { // neither a line nor a file is to blame, such as on another platform
		all = []Datum{{name + d.part, d.values, [2]*Place{}, true}}
	}
	s.result.Data = all[:min(len(all), maxListed)]
	f := s.result.Finding
	if where := all[0].Where; where != [2]*Place{} {
		if f.First == nil {
			f.First = f.Place()
		}
		f.Where = where
	}
}

// mentions reports whether a text has a word.
func mentions(text, word string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r < 0x80
	}), word)
}

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

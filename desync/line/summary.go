package line

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/words"
)

// A Summary groups the results of several files by the line that they name.
type Summary struct {
	Groups []*Row   `json:"groups"` // those with the most files first
	Failed []Failed `json:"failed,omitempty"`
}

// A Row is the files in which one line was named.
type Row struct {
	Line   *Place   `json:"line"` // nil if no line was named
	Count  int      `json:"count"`
	Files  []string `json:"files"`  // in the order in which they were added
	Result *Result  `json:"result"` // of the first of them
}

// A Failed is a file in which nothing could be compared.
type Failed struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// Add adds the result of a file, or why there is none.
func (s *Summary) Add(file string, r *Result, err error) {
	if err != nil {
		s.Failed = append(s.Failed, Failed{file, strings.TrimPrefix(err.Error(), file+": ")})
		return
	}
	i := slices.IndexFunc(s.Groups, func(g *Row) bool { return g.key() == keyOf(r) })
	if i < 0 {
		g := &Row{Result: r}
		if r.Finding != nil {
			g.Line = r.Finding.Place()
		}
		i, s.Groups = len(s.Groups), append(s.Groups, g)
	}
	s.Groups[i].Count++
	s.Groups[i].Files = append(s.Groups[i].Files, file)
	slices.SortStableFunc(s.Groups, func(a, b *Row) int { return cmp.Compare(b.Count, a.Count) })
}

// A groupKey is what the results of a group have in common.
type groupKey struct {
	mode    Mode
	differs bool
	reason  Reason
	place   Place
	doubt   bool   // what differs is not the desync of the bundle
	ends    string // without a line: how the tick ends
}

func (g *Row) key() groupKey { return keyOf(g.Result) }

func keyOf(r *Result) groupKey {
	k := groupKey{mode: r.Mode, differs: r.Tick > 0, doubt: r.doubted()}
	if r.Finding != nil {
		if p := r.Finding.Place(); p != nil {
			k.place = *p
		} else {
			k.reason = r.Finding.Reason
		}
	} else {
		k.ends = r.ends()
	}
	return k
}

// Differs reports whether anything differed in a file.
func (s *Summary) Differs() bool {
	return slices.ContainsFunc(s.Groups, func(g *Row) bool { return g.Result.Differs() })
}

// maxNamed is how many files of a group WriteText names.
const maxNamed = 8

// WriteText writes how many files have each line, and then the first finding of each.
func (s *Summary) WriteText(w io.Writer) error {
	var p words.Page
	all := len(s.Failed)
	for _, g := range s.Groups {
		all += g.Count
	}
	p.Line("files", "%d: %s", all, words.Count(len(s.Groups), "group"))
	for n, g := range s.Groups {
		p.Line(fmt.Sprintf("group %d", n+1), "%s: %s", words.Count(g.Count, "file"), g.title())
	}
	for _, f := range s.Failed {
		p.Line("failed", "%s: %s", f.File, f.Error)
	}
	if err := p.Write(w); err != nil {
		return err
	}
	for n, g := range s.Groups {
		var p words.Page
		p.Line(fmt.Sprintf("group %d", n+1), "%s", g.title())
		for i, f := range g.Files {
			if i == maxNamed {
				p.Line("", "and %d more", len(g.Files)-i)
				break
			}
			p.Line(words.First("files", i), "%s", f)
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := cmp.Or(p.Write(w), g.Result.WriteText(w)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) doubted() bool { return r.Tick > 0 && r.Reported != nil && r.Reported.Doubt != "" }

// ends says how a tick ends that has no result, or not on each side; "" if it has.
func (r *Result) ends() string {
	if r.Panicked() {
		return "panic: " + r.Panics[0]
	}
	return strings.Join(r.endlessSides("in a tick"), "; ")
}

// title says in one line what the files of a group have in common, and whether it is their desync.
func (g *Row) title() string {
	if g.Result.doubted() {
		return "not the desync of these bundles: " + g.what()
	}
	return g.what()
}

// what says in one line what the files of a group have in common.
func (g *Row) what() string {
	switch {
	case g.Line != nil && g.Line.Source == "":
		return g.Line.String()
	case g.Line != nil:
		return fmt.Sprintf("%s:%d  %s", g.Line.File, g.Line.Line, g.Line.Source)
	case g.Result.Tick == 0:
		return "nothing differs"
	case g.Result.Finding == nil && g.Result.ends() != "":
		return g.Result.ends()
	case g.Result.Finding == nil:
		return "a tick that has the same result when it is computed alone"
	}
	if g.Result.Finding.Calls > 0 {
		return "no call differs"
	}
	return "no probe differs"
}

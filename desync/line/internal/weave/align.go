// Package weave copies the sources of a game and adds probes: calls of package desync/probe that record what the rules compute. The go
// command builds the copies with -overlay, so the game's own files do not change.
//
// [Read] finds the functions that return lockstep.Rules, and every function that these reach. [Source.Write] writes the woven copies.
// [Align] matches the probes of two versions of the sources.
package weave

import (
	"slices"
	"strings"
)

// None is the partner of a site that exists in one version only.
const None = -1

// Align returns for each site of b its partner in a, or [None]. Sites of functions with the same name are partners if kind
// and text are the same, in order. Between two such pairs, sites that assign the same variable, and then sites of the same
// kind, are partners with an edited text. Line numbers are ignored. A function whose name exists in one version only is matched with a
// function of the same statements.
func Align(a, b []Site) []int {
	partner := make([]int, len(b))
	for i := range partner {
		partner[i] = None
	}
	ours, theirs := functions(a), functions(b)
	for _, f := range theirs.order {
		list := theirs.sites[f]
		from, ok := ours.sites[f]
		if !ok {
			from = ours.sites[ours.renamed(a, theirs, b, list)]
		}
		pair(a, b, from, list, partner)
	}
	return partner
}

// A functionList has the sites of each function, in order.
type functionList struct {
	order []string
	sites map[string][]int
}

func functions(all []Site) functionList {
	l := functionList{sites: map[string][]int{}}
	for i := range all {
		f := all[i].Func
		if l.sites[f] == nil {
			l.order = append(l.order, f)
		}
		l.sites[f] = append(l.sites[f], i)
	}
	return l
}

// renamed returns the unmatched function that has the statements of a list, or "".
func (l functionList) renamed(a []Site, others functionList, b []Site, list []int) string {
	want := body(b, list)
	for _, f := range l.order {
		if others.sites[f] == nil && body(a, l.sites[f]) == want {
			return f
		}
	}
	return ""
}

// body returns the texts of the sites of a function, without its name.
func body(all []Site, list []int) string {
	var s strings.Builder
	for _, i := range list[1:] {
		s.WriteString(key(&all[i]) + "\n")
	}
	return s.String()
}

func key(s *Site) string { return s.Kind.String() + " " + s.Text }

// pair finds the partners of the sites of one function.
func pair(a, b []Site, from, list []int, partner []int) {
	x, y := keys(a, from), keys(b, list)
	i, j := 0, 0
	for _, m := range append(common(x, y), [2]int{len(x), len(y)}) {
		between(a, b, from[i:m[0]], list[j:m[1]], partner)
		if m[0] < len(x) {
			partner[list[m[1]]] = from[m[0]]
		}
		i, j = m[0]+1, m[1]+1
	}
}

func keys(all []Site, list []int) (out []string) {
	for _, i := range list {
		if all[i].Kind == Enter {
			out = append(out, "enter")
		} else {
			out = append(out, key(&all[i]))
		}
	}
	return out
}

// between pairs edited sites: those that assign the same variable, then those of one kind if both versions have equally many.
func between(a, b []Site, from, list []int, partner []int) {
	used := map[int]bool{}
	match := func(same func(x, y *Site) bool) {
		next := 0
		for _, j := range list {
			if partner[j] != None {
				continue
			}
			for n := next; n < len(from); n++ {
				if i := from[n]; !used[i] && same(&a[i], &b[j]) {
					partner[j], used[i], next = i, true, n+1
					break
				}
			}
		}
	}
	match(func(x, y *Site) bool { return x.Kind == y.Kind && x.Name != "" && x.Name == y.Name })
	for k := Enter; k <= Reach; k++ {
		is := func(s *Site) bool { return s.Kind == k && (s.Kind != Call || callee(s) != "") }
		left := func(list []int, all []Site, free func(i int) bool) (n int) {
			for _, i := range list {
				if free(i) && is(&all[i]) {
					n++
				}
			}
			return n
		}
		if left(from, a, func(i int) bool { return !used[i] }) == left(list, b, func(j int) bool { return partner[j] == None }) {
			match(func(x, y *Site) bool { return is(x) && is(y) && (k != Call && k != Reach || callee(x) == callee(y)) })
		}
	}
}

// callee returns what a call's text begins with, up to its arguments.
func callee(s *Site) string {
	name, _, _ := strings.Cut(s.Text, "(")
	return name
}

// common returns the pairs of a longest common subsequence of two lists.
func common(x, y []string) (pairs [][2]int) {
	// Trimming equal ends keeps the table small: versions differ in few lines.
	start := 0
	for start < len(x) && start < len(y) && x[start] == y[start] {
		pairs = append(pairs, [2]int{start, start})
		start++
	}
	endX, endY := len(x), len(y)
	var tail [][2]int
	for endX > start && endY > start && x[endX-1] == y[endY-1] {
		endX, endY = endX-1, endY-1
		tail = append(tail, [2]int{endX, endY})
	}
	n, m := endX-start, endY-start
	if n*m > maxTable {
		return append(pairs, reversed(tail)...)
	}
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if x[start+i] == y[start+j] {
				best[i][j] = best[i+1][j+1] + 1
			} else {
				best[i][j] = max(best[i+1][j], best[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case x[start+i] == y[start+j]:
			pairs = append(pairs, [2]int{start + i, start + j})
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			i++
		default:
			j++
		}
	}
	return append(pairs, reversed(tail)...)
}

// maxTable bounds the memory of common. Functions with more differing probes are not matched.
const maxTable = 1 << 24

func reversed(pairs [][2]int) [][2]int {
	slices.Reverse(pairs)
	return pairs
}

// A Kind says what a probe records.
type Kind uint8

// The kinds of probes.
const (
	Enter  Kind = iota // a function is called, with its arguments
	Call               // a statement with calls begins
	Write              // a variable or a field has a new value
	Define             // a new variable has its value
	Test               // the value of a condition, or of the expression of a switch
	Range              // a loop takes the next element
	Case               // a case is chosen
	Return             // a value is returned
	Arg                // an argument of a call that is computed in place
	Branch             // a break, continue, goto or fallthrough
	Spawn              // a goroutine is started
	Reach              // what a call of code without probes leaves in what its arguments reach
)

// String returns the kind in a word.
func (k Kind) String() string {
	return [...]string{"enter", "call", "write", "define", "test", "range", "case", "return", "arg", "branch", "spawn", "reach"}[k]
}

// A Site is the place of a probe.
type Site struct {
	Func   string // such as "example.com/hex.(*World).move" or "example.com/hex.step.func1"
	File   string // relative to the folder of the module
	Line   int
	Kind   Kind
	Text   string   // the expression or statement, or the variable that is assigned
	Name   string   // Write, Define: the variable or field that is assigned; Reach: the first that may be changed
	Const  string   // Return: the value, if it is a constant
	Local  bool     // Write: of a local variable
	Reads  []string // names of the variables and fields that it reads
	Uses   []string // names of the constants and variables of packages among them, as in Source.Decls
	Source string   // the line, without the space at its ends
}

// A Decl is the declaration of a constant or a variable of a package.
type Decl struct {
	File string
	Line int
	Text string // with its lines
}

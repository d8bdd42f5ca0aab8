// Package reach says what matches did: their ticks, the commands that were accepted, and the fields of the state that ever changed. A
// verdict on matches that did nothing is worth nothing. Package kit/locksteptest shows it to games.
package reach

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// Reached says what some matches of one game did, so that a verdict on them says what it is worth.
type Reached struct {
	Matches int           `json:"matches"`
	Ticks   int           `json:"ticks"`   // of all matches
	Longest lockstep.Tick `json:"longest"` // ticks of one match

	Accepted []Accepted `json:"accepted"` // commands of players, in the order of the rules' kinds

	Fields int      `json:"fields"` // of the state's schema: those of all elements of a list count once, and the length of a list too
	Still  []string `json:"still"`  // those of them that never changed, such as "Units[].Name"
}

// Accepted is how many commands of a kind were accepted.
type Accepted struct {
	Kind string `json:"kind"`
	N    int    `json:"n"`
}

// A Sum is a Reached that grows by the states of matches.
type Sum struct {
	reached Reached
	schema  *state.Schema
	fields  []string // paths of all fields
	still   map[string]bool
	byKind  map[lockstep.Kind]int // index in Accepted; only looked up
}

// New returns the sum of no matches.
func New(g *lockstep.Game) *Sum {
	r := &Sum{schema: g.StateSchema(), still: map[string]bool{}, byKind: map[lockstep.Kind]int{}}
	for _, k := range g.Commands() {
		r.byKind[k.Kind] = len(r.reached.Accepted)
		r.reached.Accepted = append(r.reached.Accepted, Accepted{Kind: k.Name})
	}
	r.list(r.schema.Root())
	for _, path := range r.fields {
		r.still[path] = true
	}
	return r
}

// list adds the leaves and slices of a node to the fields.
func (r *Sum) list(n state.Node) {
	switch n.Kind() {
	case state.Struct:
		for i := range n.NumFields() {
			r.list(n.Field(i))
		}
		return
	case state.Array:
		r.list(n.Elem())
		return
	case state.Slice:
		r.list(n.Elem())
	}
	r.fields = append(r.fields, n.Path())
}

// maxSeen is how many states of a match are compared with each other.
const maxSeen = 250

// Match adds a match: the state at each tick from 0, and its frames.
func (r *Sum) Match(states func(lockstep.Tick) []byte, ticks lockstep.Tick, frames []lockstep.Frame) {
	r.Played(ticks)
	for i := range frames {
		r.Accept(&frames[i])
	}
	every := max(ticks/maxSeen, 1)
	for t := lockstep.Tick(0); t < ticks && len(r.still) > 0; t += every {
		r.States(states(t), states(min(t+every, ticks)))
	}
}

// Played counts a match of some ticks.
func (r *Sum) Played(ticks lockstep.Tick) {
	x := &r.reached
	x.Matches, x.Ticks, x.Longest = x.Matches+1, x.Ticks+int(ticks), max(x.Longest, ticks)
}

// All reports whether every field has changed, so that States needs no more.
func (r *Sum) All() bool { return len(r.still) == 0 }

// Accept counts the commands of a frame.
func (r *Sum) Accept(f *lockstep.Frame) {
	for i := range f.Commands {
		if c := &f.Commands[i]; c.Player != lockstep.System {
			if at, ok := r.byKind[c.Kind]; ok {
				r.reached.Accepted[at].N++
			}
		}
	}
}

// States notes the fields that differ between two states.
func (r *Sum) States(a, b []byte) {
	if len(r.still) == 0 {
		return
	}
	changed, err := r.schema.DiffNodes(a, b)
	if err != nil {
		return // another check reports a malformed state
	}
	for _, n := range changed {
		delete(r.still, n.Path())
	}
}

// Reached returns what was reached so far.
func (r *Sum) Reached() *Reached {
	s := r.reached
	s.Accepted, s.Fields, s.Still = slices.Clone(r.reached.Accepted), len(r.fields), []string{}
	for _, path := range r.fields {
		if r.still[path] {
			s.Still = append(s.Still, path)
		}
	}
	return &s
}

// Include adds what other matches of the same game have reached.
func (r *Sum) Include(o *Sum) {
	x, y := &r.reached, &o.reached
	x.Matches, x.Ticks, x.Longest = x.Matches+y.Matches, x.Ticks+y.Ticks, max(x.Longest, y.Longest)
	for i := range r.reached.Accepted {
		r.reached.Accepted[i].N += o.reached.Accepted[i].N
	}
	for path := range r.still {
		if !o.still[path] {
			delete(r.still, path)
		}
	}
}

const maxKinds = 40 // that a line lists

// Commands returns the number of all accepted commands.
func (r *Reached) Commands() (n int) {
	for _, k := range r.Accepted {
		n += k.N
	}
	return n
}

// String returns what was reached as one line, such as
//
//	1 match, 870 ticks; accepted: 312 walk, 20 lay; 9 of 10 fields of the state changed, not Diggers[].Owner
//
// In a test with a coverage profile it also has the statements that the test binary ran until now.
func (r *Reached) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s, %s", words.Count(r.Matches, "match"), words.Count(r.Ticks, "tick"))
	if r.Matches > 1 {
		fmt.Fprintf(&s, ", at most %d in one", r.Longest)
	}
	var accepted []string
	for _, k := range r.Accepted {
		if accepted = append(accepted, fmt.Sprintf("%d %s", k.N, k.Kind)); len(accepted) == maxKinds {
			accepted = append(accepted, fmt.Sprintf("%d in all of %d kinds", r.Commands(), len(r.Accepted)))
			break
		}
	}
	if accepted == nil {
		accepted = []string{"the game has no commands"}
	}
	s.WriteString("; accepted: " + strings.Join(accepted, ", "))
	fmt.Fprintf(&s, "; %d of %s of the state changed", r.Fields-len(r.Still), words.Count(r.Fields, "field"))
	if still := r.Still; len(still) > 0 {
		s.WriteString(", not " + Names(still))
	}
	if testing.Testing() && testing.CoverMode() != "" {
		fmt.Fprintf(&s, "; the test binary ran %.0f %% of the statements until now", 100*testing.Coverage())
	}
	return s.String()
}

const maxNamed = 5 // kinds and fields

// Names lists some of the names.
func Names(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		names = append(slices.Clone(names[:maxNamed]), fmt.Sprintf("%d more", more))
	}
	return words.List(names)
}

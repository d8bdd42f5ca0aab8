package locksteptest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

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

// reached is a Reached that grows by the states of matches.
type reached struct {
	Reached
	schema *state.Schema
	fields []string // paths of all fields
	still  map[string]bool
	byKind map[lockstep.Kind]int // index in Accepted; only looked up
}

func newReached(g *lockstep.Game) *reached {
	r := &reached{schema: g.StateSchema(), still: map[string]bool{}, byKind: map[lockstep.Kind]int{}}
	for _, k := range g.Commands() {
		r.byKind[k.Kind] = len(r.Accepted)
		r.Accepted = append(r.Accepted, Accepted{Kind: k.Name})
	}
	r.list(r.schema.Root())
	for _, path := range r.fields {
		r.still[path] = true
	}
	return r
}

// list adds the leaves and slices of a node to the fields.
func (r *reached) list(n state.Node) {
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

// match adds a match: the state at each tick from 0, and its frames.
func (r *reached) match(states func(lockstep.Tick) []byte, ticks lockstep.Tick, frames []lockstep.Frame) {
	r.Matches, r.Ticks, r.Longest = r.Matches+1, r.Ticks+int(ticks), max(r.Longest, ticks)
	for i := range frames {
		r.accept(&frames[i])
	}
	every := max(ticks/maxSeen, 1)
	for t := lockstep.Tick(0); t < ticks && len(r.still) > 0; t += every {
		r.states(states(t), states(min(t+every, ticks)))
	}
}

// accept counts the commands of a frame.
func (r *reached) accept(f *lockstep.Frame) {
	for i := range f.Commands {
		if c := &f.Commands[i]; c.Player != lockstep.System {
			if at, ok := r.byKind[c.Kind]; ok {
				r.Accepted[at].N++
			}
		}
	}
}

// states notes the fields that differ between two states.
func (r *reached) states(a, b []byte) {
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

// sum returns what was reached so far.
func (r *reached) sum() *Reached {
	s := r.Reached
	s.Accepted, s.Fields, s.Still = slices.Clone(r.Accepted), len(r.fields), []string{}
	for _, path := range r.fields {
		if r.still[path] {
			s.Still = append(s.Still, path)
		}
	}
	return &s
}

// include adds what other matches of the same game have reached.
func (r *reached) include(o *reached) {
	r.Matches, r.Ticks, r.Longest = r.Matches+o.Matches, r.Ticks+o.Ticks, max(r.Longest, o.Longest)
	for i := range r.Accepted {
		r.Accepted[i].N += o.Accepted[i].N
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
	fmt.Fprintf(&s, "%d %s, %d %s", r.Matches, many(r.Matches, "match", "matches"), r.Ticks, many(r.Ticks, "tick", "ticks"))
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
	fmt.Fprintf(&s, "; %d of %d fields of the state changed", r.Fields-len(r.Still), r.Fields)
	if still := r.Still; len(still) > 0 {
		s.WriteString(", not " + firstOf(still))
	}
	if testing.Testing() && testing.CoverMode() != "" {
		fmt.Fprintf(&s, "; the test binary ran %.0f %% of the statements until now", 100*testing.Coverage())
	}
	return s.String()
}

func many(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// A Floor is the least that a match must reach, or that all matches of a verdict must reach together. A negative number asks for
// nothing, and 0 for the default.
type Floor struct {
	Ticks int // of one match; the default is 1

	// Kinds is the percentage of the kinds of commands, without those that Weights excludes, of which one must be accepted. The default is
	// 60 for matches together. In a match alone, one command must be accepted.
	Kinds int

	// Fields is the percentage of the state's fields that must change (see [Reached]). The default is 50 for matches together and for
	// a golden match, and 25 for a match alone.
	Fields int
}

// of returns the floor with the defaults of a match alone or of matches together.
func (f Floor) of(together bool) Floor {
	f.Ticks = cmp.Or(f.Ticks, 1)
	if together {
		f.Kinds, f.Fields = cmp.Or(f.Kinds, 60), cmp.Or(f.Fields, 50)
	}
	f.Fields = cmp.Or(f.Fields, 25)
	return f
}

// below returns [ErrThin] if matches have reached less than the floor of the options.
func (r *Reached) below(o *Options, together bool) error {
	all := o.Floor.of(together).misses(r, o)
	if len(all) == 0 || o.AllowThin != "" {
		return nil
	}
	cure := fmt.Sprintf("let bots play (Play), play longer (Ticks: %d)", 5*r.Longest)
	if o.Play != nil {
		cure = fmt.Sprintf("let the bots do more (Play), play longer (Ticks: %d)", 5*r.Longest)
	}
	return fmt.Errorf("locksteptest: %w: %s\n\treached: %s\n%s, ask for less (Floor), or say why that is enough (AllowThin)", ErrThin, strings.Join(all, "; "), r, cure)
}

// misses returns in words what is below the floor, or nothing.
func (f Floor) misses(r *Reached, o *Options) (all []string) {
	if int(r.Longest) < f.Ticks {
		all = append(all, fmt.Sprintf("got a match of %d ticks, want %d", r.Longest, f.Ticks))
	}
	var none []string
	asked := 0
	for _, k := range r.Accepted {
		if weight, ok := o.Weights[k.Kind]; ok && weight == 0 {
			continue
		}
		if asked++; k.N == 0 {
			none = append(none, k.Kind)
		}
	}
	switch {
	case f.Kinds >= 0 && r.Commands() == 0 && (asked > 0 || o.Play != nil && len(r.Accepted) > 0):
		all = append(all, "no command was accepted")
	case 100*(asked-len(none)) < f.Kinds*asked:
		all = append(all, fmt.Sprintf("commands of %d of %d kinds were accepted, want %d %%: not %s", asked-len(none), asked, f.Kinds, firstOf(none)))
	}
	if changed := r.Fields - len(r.Still); 100*changed < f.Fields*r.Fields {
		all = append(all, fmt.Sprintf("%d of %d fields of the state changed, want %d %%: not %s", changed, r.Fields, f.Fields, firstOf(r.Still)))
	}
	return all
}

const maxNamed = 5 // kinds and fields

// firstOf lists some of the names.
func firstOf(names []string) string {
	text := strings.Join(names[:min(maxNamed, len(names))], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

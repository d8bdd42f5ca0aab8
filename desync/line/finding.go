package line

import (
	"strings"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
)

// A Place is a line of code. Of a function in a module of rules, it is the first line, or only the name.
type Place struct {
	File   string `json:"file"` // relative to the module
	Line   int    `json:"line"`
	Func   string `json:"func"`   // or what else the line is in, such as "the declaration of rules.limit"
	Source string `json:"source"` // the line itself
}

func placeOf(s *weave.Site) *Place { return &Place{s.File, s.Line, shortFunc(s.Func), s.Source} }

// shortFunc returns the name of a function with the last part of its package's path.
func shortFunc(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// A Reason says in which way the two sides differ at a line.
type Reason string

// The reasons.
const (
	Value   Reason = "value"   // the line computes different values
	Flow    Reason = "flow"    // the sides go different ways after it
	Memory  Reason = "memory"  // data in the memory of a module begin to differ in the function
	Only    Reason = "only"    // only one side has it, and it changes something
	Nothing Reason = "nothing" // no probe differs
)

// A Finding is the first difference between two computations of a tick.
type Finding struct {
	Reason Reason    `json:"reason"`
	Where  [2]*Place `json:"where"` // on side A and side B; nil where a side does not have or reach it
	Text   string    `json:"text"`  // the expression or statement
	Entity string    `json:"entity,omitempty"`
	Values [2]string `json:"values"`         // "" where there is none
	Path   []Place   `json:"path,omitempty"` // from Step to the line: the calls that are under way

	// First is the first probe that differs, if that is another line: the difference was made at Where, and seen there.
	First *Place `json:"first,omitempty"`

	// Written is the line that last assigned what the line of Where reads, if that is where to look: in a goroutine, or in
	// a tick before.
	Written     *Place `json:"written,omitempty"`
	WrittenTick uint32 `json:"written_tick,omitempty"`

	// Unchanged says that the sides are two versions with the same code there: the difference is seen at Where, and arises elsewhere.
	Unchanged bool `json:"unchanged,omitempty"`

	// Calls is how many calls before it were the same. Hint is a call before it, or anywhere if no call differs, with other
	// numbers, which may also be addresses. Both are of modules of rules.
	Calls int      `json:"calls,omitempty"`
	Hint  *Finding `json:"hint,omitempty"`

	// Writes are the assignments after it that differ, up to the first field that was seen to differ.
	Writes []Write `json:"writes,omitempty"`
}

// Place returns the line to look at, or nil if nothing was found. It is that of side B, whose rules are the ones in question,
// unless only side A has it.
func (f *Finding) Place() *Place {
	if f.Where[1] != nil {
		return f.Where[1]
	}
	return f.Where[0]
}

// A Write is an assignment that differs between the sides.
type Write struct {
	Place  Place     `json:"place"`
	Name   string    `json:"name"` // of the variable or field
	Text   string    `json:"text"`
	Entity string    `json:"entity,omitempty"`
	Values [2]string `json:"values"` // "" on a side that does not do it
	Seen   bool      `json:"seen,omitempty"`
}

// An Endless is a tick that a side did not end. One of the first three says why.
type Endless struct {
	Seconds   float64 `json:"seconds,omitempty"`   // for which the side computed it
	Megabytes int     `json:"megabytes,omitempty"` // more than which it needed
	Ended     string  `json:"ended,omitempty"`     // how its program ended, such as "stack overflow" or "exit code 4"
	Loop      *Place  `json:"loop,omitempty"`      // the outermost line that it ran again and again; nil if it ran none with a probe
	Last      *Place  `json:"last,omitempty"`      // the last line with a probe that it ran
}

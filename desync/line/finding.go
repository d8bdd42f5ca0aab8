package line

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/desync/line/internal/weave"
	"github.com/seed-49bee653/samestep/lockstep"
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
	Flow    Reason = "flow"    // the sides take different paths after it
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

// A Mode is what the two sides are.
type Mode string

// The modes.
const (
	Versions  Mode = "versions"  // two versions of the sources
	Platforms Mode = "platforms" // one version on two platforms
	Again     Mode = "again"     // one version, and the same match again
	WarmCold  Mode = "warm-cold" // a simulation that came all the way, and one restored from the snapshot before the tick
	Checked   Mode = "check"     // the match of a failed check of package kit/locksteptest, and the way in which it was computed again
)

// A Result is what was compared, and what was found.
type Result struct {
	Mode     Mode          `json:"mode"`
	Sides    [2]string     `json:"sides"`
	Notes    []string      `json:"notes,omitempty"`    // how the sources differ from those that recorded the replay
	First    lockstep.Tick `json:"first"`              // the first tick that was computed, less one
	Last     lockstep.Tick `json:"last"`               // and the last
	Reported *Reported     `json:"reported,omitempty"` // of a bundle
	Tick     lockstep.Tick `json:"tick,omitempty"`     // the first whose results differ; 0 for none
	Fields   []Field       `json:"fields,omitempty"`
	Phase    string        `json:"phase,omitempty"`   // the part of Step in which the states began to differ, if it marks them
	Streams  []Stream      `json:"streams,omitempty"` // from which the sides drew differently in that part, or in the tick
	Panics   [2]string     `json:"panics"`            // of the rules, in the tick
	Endless  [2]*Endless   `json:"endless,omitzero"`  // of the sides that did not end the tick
	At       *Place        `json:"at,omitempty"`      // the last probe before a panic that is the same on both sides
	Finding  *Finding      `json:"finding,omitempty"`
	Data     []Datum       `json:"data,omitempty"`    // what differs before the match, if the finding is in no changed line
	Changed  []Change      `json:"changed,omitempty"` // the changed lines that ran, if the data do not explain the finding either
	Searched bool          `json:"-"`                 // the sources differ, and Changed has what ran of that

	Probes       int           `json:"probes"`
	Events       [2]int        `json:"events"`
	Dropped      int           `json:"dropped,omitempty"` // events beyond the limit of a recording
	Partial      int           `json:"partial,omitempty"` // calls that reach more than what was compared
	BuildSeconds float64       `json:"build_seconds"`
	RunSeconds   float64       `json:"run_seconds"`
	took         time.Duration // of the whole
}

// A Field is a field of the state that differs after the tick.
type Field struct {
	Path   string    `json:"path"`
	Values [2]string `json:"values"`
}

// A Stream is a source of randomness from which the sides drew differently in the part of the tick in which they began to
// differ: a generator in the state, by its path, or a purpose that the rules report (lockstep.Turn.Drew).
type Stream struct {
	Name string `json:"name"`
	A    uint64 `json:"a,string"` // draws of side A
	B    uint64 `json:"b,string"`

	// Altered means that no number of draws leads to the generator of side B.
	Altered bool `json:"altered,omitempty"`
}

// String returns the stream as one line of text.
func (s Stream) String() string {
	if s.Altered {
		return fmt.Sprintf("%s: no number of draws leads from one side to the other", s.Name)
	}
	return fmt.Sprintf("%s: %s | %s", s.Name, draws(s.A), draws(s.B))
}

func draws(n uint64) string {
	if n == 1 {
		return "1 draw"
	}
	return fmt.Sprintf("%d draws", n)
}

// A Datum is a variable of a package that has different values on the two sides before the match, or an embedded file that differs.
type Datum struct {
	Name   string    `json:"name"` // of the first part that differs, such as "goods.Table[1].Cost"; "" for a file that no such variable has
	Values [2]string `json:"values"`
	Where  [2]*Place `json:"where"` // what makes the difference: the line of the file, or that of the code; nil where a side has none
	Read   bool      `json:"read"`  // the line that was found reads it, or its function, or the caller of that
}

// A Change is a line in which the sources differ, and that ran before the first difference of the tick, or before the match.
type Change struct {
	Where [2]*Place `json:"where"` // nil where a side does not have it
}

// A Reported compares what the sides compute with the checksums in a bundle: those of the referee, or of most players without one, and
// those that the player sent, of the checked tick and of the ticks that its machine computed again.
type Reported struct {
	Ticks int         `json:"ticks"`           // of which the player's checksum is known
	Sides []Reproduce `json:"sides"`           // side A and side B, or only the one version there is
	Text  []string    `json:"text"`            // what it means
	Next  string      `json:"next,omitempty"`  // what to do if this version always computes the same
	Doubt string      `json:"doubt,omitempty"` // why what differs between the two sides is not this desync; also a line of Text
}

// A Reproduce says whose checksums a side computes.
type Reproduce struct {
	Referee bool          `json:"referee"`           // all that are known of the referee, or of most players
	Player  bool          `json:"player"`            // all that are known of the player
	Differs lockstep.Tick `json:"differs,omitempty"` // if neither: the tick by which it has differed from both
}

// Panicked reports whether the rules panic on both sides in the same way.
func (r *Result) Panicked() bool { return r.Panics[0] != "" && r.Panics[0] == r.Panics[1] }

// Stuck reports whether neither side ends the tick, in the same way, and nothing else differs.
func (r *Result) Stuck() bool {
	a, b := r.Endless[0], r.Endless[1]
	return a != nil && b != nil && r.Finding == nil && a.Seconds == b.Seconds && a.Megabytes == b.Megabytes && (a.Ended == "") == (b.Ended == "")
}

// Differs reports whether the two sides differ.
func (r *Result) Differs() bool { return r.Tick > 0 && !r.Panicked() && !r.Stuck() }

// maxListed is how many changes and data a result has.
const maxListed = 12

package follow

import (
	"strings"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// maxExplainTicks is how many ticks are run at once to compare a state that differed.
const maxExplainTicks = 32

// maxExplained is how many fields an [Explained] lists.
const maxExplained = 16

// explain compares two states of one tick, and returns false if they are the same.
func explain(g *lockstep.Game, wrong, right *lockstep.Simulation) (Explained, bool) {
	schema, a, b := g.StateSchema(), wrong.AppendState(nil), right.AppendState(nil)
	found, err := schema.Diff(a, b, maxExplained)
	if err != nil {
		panic(err) // our own snapshots are canonical
	}
	found.Rename(schema.Names(a, b))
	for i := range found.List {
		d := &found.List[i] // a text in the state may be long
		d.A, d.B = pack.Clip(d.A, record.MaxNote), pack.Clip(d.B, record.MaxNote)
	}
	if found.Total == 0 {
		return Explained{}, false
	}
	return Explained{Tick: wrong.Tick(), Section: sectionOf(found.List[0].Path), Fields: found}, true
}

// sectionOf returns the section that a field's path begins with.
func sectionOf(path string) string {
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end]
	}
	return path
}

// Explained: after a desync this client has compared its state with the match's, which the server sent. Of each field,
// A is the client's value and B the match's. They are compared some ticks after the first difference, so fields that
// depend on it differ, too.
type Explained struct {
	Tick    lockstep.Tick
	Section string // the first one that differs
	Fields  state.Differences
}

package player

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

// keepDiffering keeps a state that is not the match's when the match's state of tick goal replaces it. It runs the
// ticks up to goal that have arrived, so that both can be compared, unless they are too many for one call.
func (c *Client) keepDiffering(goal lockstep.Tick) {
	r := &c.run
	if !r.diverged || r.follower == nil {
		return
	}
	if t := c.Tick(); t < goal {
		ticks := int64(min(goal-t, c.level()))
		if ticks > maxExplainTicks {
			return
		}
		if err := c.runTicks(ticks); err != nil {
			return // the game fails on such a state
		}
	}
	r.wrong = r.follower.Simulation()
}

// explain compares the kept state with the match's, as soon as that has the same tick.
func (c *Client) explain() {
	r := &c.run
	if r.wrong == nil || r.wrong.Tick() > c.Tick() {
		return
	}
	wrong := r.wrong
	r.wrong = nil
	if wrong.Tick() < c.Tick() {
		return // it lacks ticks that never came
	}
	schema, a, b := c.game.StateSchema(), wrong.AppendState(nil), r.follower.Simulation().AppendState(nil)
	found, err := schema.Diff(a, b, maxExplained)
	if err != nil {
		panic(err) // our own snapshots are canonical
	}
	found.Rename(schema.Names(a, b))
	for i := range found.List {
		d := &found.List[i] // a text in the state may be long
		d.A, d.B = pack.Clip(d.A, record.MaxNote), pack.Clip(d.B, record.MaxNote)
	}
	if found.Total > 0 {
		c.tell(Explained{Tick: wrong.Tick(), Section: sectionOf(found.List[0].Path), Fields: found})
	}
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

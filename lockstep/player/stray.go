package player

import (
	"strings"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// maxStray is how many ticks are run at once to compare a state that differed.
const maxStray = 32

// maxExplained is how many fields an [Explained] lists.
const maxExplained = 16

// keepStray keeps the state that is not the match's when another, of tick goal,
// takes its place. What has arrived of the ticks up to goal is run, so that both
// can be compared, unless that would be more work than a call may be.
func (c *Client) keepStray(goal lockstep.Tick) {
	r := &c.run
	if !r.diverged || r.follower == nil {
		return
	}
	if t := c.Tick(); t < goal {
		ticks := int64(min(goal-t, c.level()))
		if ticks > maxStray {
			return
		}
		if err := c.runTicks(ticks); err != nil {
			return // the game does not survive such a state
		}
	}
	r.stray = r.follower.Simulation()
}

// compareStray compares the state that was not the match's with the one that took
// its place, as soon as that is of the same tick.
func (c *Client) compareStray() {
	r := &c.run
	if r.stray == nil || r.stray.Tick() > c.Tick() {
		return
	}
	stray := r.stray
	r.stray = nil
	if stray.Tick() < c.Tick() {
		return // it lacks ticks that never came
	}
	found, err := c.game.StateSchema().Diff(stray.AppendState(nil), r.follower.Simulation().AppendState(nil), maxExplained)
	if err != nil {
		panic(err) // our own snapshots are canonical
	}
	for i := range found.List {
		d := &found.List[i] // a text in the state may be long
		d.A, d.B = pack.Clip(d.A, record.MaxNote), pack.Clip(d.B, record.MaxNote)
	}
	if found.Total > 0 {
		c.tell(Explained{Tick: stray.Tick(), Section: sectionOf(found.List[0].Path), Fields: found})
	}
}

// sectionOf returns the section that a field's path begins with.
func sectionOf(path string) string {
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end]
	}
	return path
}

// Explained: after a desync this client has compared its state with the match's,
// which it was sent in place of it. Of each field, A is what it had, and B what the
// match has. That is some ticks after they parted, so what followed from the first
// difference differs, too.
type Explained struct {
	Tick    lockstep.Tick
	Section string // the first one that differs
	Fields  state.Differences
}

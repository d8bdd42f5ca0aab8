package lockstep

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

// A Divergence tells where two copies of a match begin to differ, as far as their histories reach: at the first tick
// that both keep and that differs.
type Divergence struct {
	Tick    Tick
	Agreed  Tick   // the last tick before it that both keep and that agrees
	Known   bool   // Agreed is set; otherwise the copies may differ from an earlier tick on
	Section string // the first section that differs
	Fields  state.Differences
}

// Diverged compares the histories of two followers of one match. It reports false if no kept tick differs. Fields lists
// at most limit fields, and is empty unless both histories keep states.
func Diverged(a, b *Follower, limit int) (Divergence, bool) {
	var d Divergence
	for i := range a.history.n {
		m := a.history.at(i)
		o := b.history.find(m.Tick)
		if o == nil {
			continue
		}
		if m.Sum.Hash == o.Sum.Hash {
			d.Agreed, d.Known = m.Tick, true
			continue
		}
		d.Tick = m.Tick
		first, _ := checksum.Compare(m.Sum, o.Sum, a.game.stateSchema)
		d.Section = first.Name
		if m.State != nil && o.State != nil {
			fields, err := a.game.stateSchema.Diff(m.State, o.State, limit)
			if err != nil {
				panic(err) // our own snapshots are canonical
			}
			d.Fields = fields
		}
		return d, true
	}
	return d, false
}

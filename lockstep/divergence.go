package lockstep

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

// A Divergence says where two copies of a match part, as far as their histories tell: the first tick at which both are
// kept and differ.
type Divergence struct {
	Tick    Tick
	Agreed  Tick   // the last tick before it at which both are kept and agree
	Known   bool   // there is such a tick; otherwise the copies may have parted before
	Section string // the first section that differs
	Fields  state.Differences
}

// Diverged compares the histories of two followers of one match. It reports false if no kept tick differs. Fields, of
// which at most limit are listed, are empty unless both keep states.
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

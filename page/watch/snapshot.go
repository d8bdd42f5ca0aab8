package watch

import (
	"sort"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A snapshot is a kept state of a simulated tick.
type snapshot struct {
	tick  lockstep.Tick
	state []byte
}

// keptUpTo returns the last snapshot at or before a tick, or nil.
func (v *Viewer) keptUpTo(t lockstep.Tick) *snapshot { return upTo(v.kept, t) }

func upTo(all []snapshot, t lockstep.Tick) *snapshot {
	i := sort.Search(len(all), func(i int) bool { return all[i].tick > t })
	if i == 0 {
		return nil
	}
	return &all[i-1]
}

// keep makes a snapshot of the state of tick t.
func (v *Viewer) keep(t lockstep.Tick) {
	i := sort.Search(len(v.kept), func(i int) bool { return v.kept[i].tick >= t })
	if i < len(v.kept) && v.kept[i].tick == t {
		return
	}
	s := snapshot{t, v.now.AppendState(nil)}
	v.kept = append(v.kept, snapshot{})
	copy(v.kept[i+1:], v.kept[i:])
	v.kept[i] = s
	v.keptSize += len(s.state)
	if v.keptSize <= v.limit {
		return
	}
	v.every *= 2
	all := v.kept
	v.kept, v.keptSize = nil, 0
	for _, s := range all {
		if s.tick%v.every == 0 {
			v.kept = append(v.kept, s)
			v.keptSize += len(s.state)
		}
	}
}

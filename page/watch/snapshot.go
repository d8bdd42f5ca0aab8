package watch

import (
	"sort"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A snapshot is a kept state of a tick.
type snapshot struct {
	tick  lockstep.Tick
	state []byte
}

// upTo returns the last of some snapshots at or before a tick, or nil.
func upTo(all []snapshot, t lockstep.Tick) *snapshot {
	i := sort.Search(len(all), func(i int) bool { return all[i].tick > t })
	if i == 0 {
		return nil
	}
	return &all[i-1]
}

// kept are snapshots of simulated ticks. When they exceed the limit, every second one is dropped.
type kept struct {
	list  []snapshot    // by tick
	size  int           // in bytes
	limit int           // of size
	every lockstep.Tick // distance of snapshots
}

// due reports whether a tick is to be kept, and is not yet.
func (k *kept) due(t lockstep.Tick) bool {
	s := upTo(k.list, t)
	return t%k.every == 0 && (s == nil || s.tick != t)
}

// add adds a snapshot.
func (k *kept) add(s snapshot) {
	i := sort.Search(len(k.list), func(i int) bool { return k.list[i].tick >= s.tick })
	k.list = append(k.list, snapshot{})
	copy(k.list[i+1:], k.list[i:])
	k.list[i] = s
	k.size += len(s.state)
	if k.size <= k.limit {
		return
	}
	k.every *= 2
	all := k.list
	k.list, k.size = nil, 0
	for _, s := range all {
		if s.tick%k.every == 0 {
			k.list = append(k.list, s)
			k.size += len(s.state)
		}
	}
}

package follow

import "github.com/seed-49bee653/samestep/lockstep"

// MaxHashes is for how many ticks Options.Hashes keeps the state hash at most.
const MaxHashes = 4096

// hashes are the state hashes of the latest ticks, with Options.Hashes: that of tick t at t % len.
type hashes []tickHash

type tickHash struct {
	tick lockstep.Tick
	hash uint64
}

// keep keeps the state hash of the present tick of f, for every tick that a state of its history reaches.
func (h *hashes) keep(f *lockstep.Follower, states int) {
	if *h == nil {
		*h = make(hashes, min(MaxHashes, lockstep.Tick(states)*lockstep.Tick(f.Header().Settings.CheckEvery)))
	}
	t := f.Tick()
	(*h)[t%lockstep.Tick(len(*h))] = tickHash{t, f.Simulation().Hash()}
}

// of returns the state hash of a past tick of f as it was computed first, and 0 if it is not kept.
func (h hashes) of(f *lockstep.Follower, t lockstep.Tick) uint64 {
	if sum, ok := f.Sum(t); ok {
		return sum.Hash
	}
	if len(h) > 0 {
		if x := h[t%lockstep.Tick(len(h))]; x.tick == t {
			return x.hash
		}
	}
	return 0
}

package coordinator

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A limit is a [record.CommandLimit] of a match.
type limit struct {
	kind lockstep.Kind
	n    int
	per  lockstep.Tick // length of the window
}

// newLimits returns the limits of a match, by ascending kind.
func newLimits(g *lockstep.Game, s *lockstep.Settings) (all []limit) {
	for _, d := range g.Commands() {
		if l := g.CommandLimit(d.Kind); l.N > 0 {
			// Rounded down, but at least a tick.
			all = append(all, limit{d.Kind, l.N, lockstep.Tick(max(1, s.TicksIn(int64(l.Per))))})
		}
	}
	return all
}

// limitOf returns the index of the limit of a kind, or -1.
func limitOf(limits []limit, kind lockstep.Kind) int {
	return slices.IndexFunc(limits, func(l limit) bool { return l.kind == kind })
}

// A window has the ticks of a player's last commands of a limited kind, in ascending order, at most as many as the limit
// allows in a window. A command in the tick t is within the limit if the oldest of them is not in the window that ends with t.
// This holds for every window that has t, because no later command is left out.
type window []lockstep.Tick

// used counts an accepted command that runs in the tick t.
func (s *seat) used(limits []limit, kind lockstep.Kind, t lockstep.Tick) {
	i := limitOf(limits, kind)
	if i < 0 {
		return
	}
	if s.windows == nil {
		s.windows = make([]window, len(limits))
	}
	w := s.windows[i]
	if len(w) == limits[i].n {
		w = w[:copy(w, w[1:])]
	}
	at := len(w) // the ticks mostly ascend
	for at > 0 && w[at-1] > t {
		at--
	}
	s.windows[i] = slices.Insert(w, at, t)
}

// wait returns for how many ticks no command of a kind in the tick t is within its limit, and the detail of the
// rejection, which docs/spec/live.md describes. It returns 0 if the command is within the limit.
func (s *seat) wait(limits []limit, kind lockstep.Kind, t lockstep.Tick) (lockstep.Tick, string) {
	i := limitOf(limits, kind)
	if i < 0 || s.windows == nil {
		return 0, ""
	}
	w, l := s.windows[i], &limits[i]
	if len(w) < l.n || w[0]+l.per <= t {
		return 0, ""
	}
	wait := w[0] + l.per - t
	return wait, fmt.Sprintf("%d ticks: at most %d in %d ticks", wait, l.n, l.per)
}

package locksteptest

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// limits counts the accepted commands of the kinds that have a limit, in a simpler way than the coordinator does.
type limits struct {
	list []limit
	used map[use][]lockstep.Tick // ticks of the accepted commands, ascending; only looked up
}

// A limit allows a player n commands of a kind in any window of per ticks.
type limit struct {
	kind lockstep.Kind
	n    int
	per  lockstep.Tick
}

type use struct {
	player lockstep.Player
	kind   lockstep.Kind
}

func newLimits(g *lockstep.Game, s lockstep.Settings) *limits {
	l := &limits{used: map[use][]lockstep.Tick{}}
	for _, c := range g.Commands() {
		if of := g.CommandLimit(c.Kind); of.N > 0 {
			l.list = append(l.list, limit{c.Kind, of.N, lockstep.Tick(max(1, s.TicksIn(int64(of.Per))))})
		}
	}
	return l
}

// of returns the limit of a kind, or nil.
func (l *limits) of(kind lockstep.Kind) *limit {
	if i := slices.IndexFunc(l.list, func(of limit) bool { return of.kind == kind }); i >= 0 {
		return &l.list[i]
	}
	return nil
}

// arrange changes an order of arrival so that the commands of one player and limited kind arrive in the order of their
// sequences, as from a connection. Otherwise the order of arrival would decide which of them are within the limit.
func (l *limits) arrange(arrival []int, orders []order) {
	places := map[use][]int{} // in arrival; only looked up
	for place, at := range arrival {
		if o := &orders[at]; l.of(o.kind) != nil {
			key := use{o.player, o.kind}
			places[key] = append(places[key], place)
		}
	}
	for at := range orders { // of ascending sequences
		key := use{orders[at].player, orders[at].kind}
		if left := places[key]; len(left) > 0 {
			arrival[left[0]], places[key] = at, left[1:]
		}
	}
}

// check counts a command that was submitted, and returns an error if its receipt contradicts the limit of its kind. The
// commands of a player and kind come in the order of their arrival.
func (l *limits) check(o *order) error {
	limit := l.of(o.kind)
	r := &o.receipt
	if limit == nil || r.Reason != lockstep.Accepted && r.Reason != lockstep.Refused && r.Reason != lockstep.TooOften {
		return nil // the limit was not asked
	}
	at, key := o.tick-1+delayTicks, use{o.player, o.kind}
	used := l.used[key]
	var wait lockstep.Tick // until the window has room
	if first := len(used) - limit.n; first >= 0 && used[first]+limit.per > at {
		wait = used[first] + limit.per - at
	}
	if (wait > 0) != (r.Reason == lockstep.TooOften) || wait != r.Wait {
		return fmt.Errorf("command %d of player %d, kind %d: got %v, want a wait of %d ticks: at most %d in %d ticks",
			o.sequence, o.player, o.kind, *r, wait, limit.n, limit.per)
	}
	if r.Reason == lockstep.Accepted {
		l.used[key] = append(used, r.Tick)
	}
	return nil
}

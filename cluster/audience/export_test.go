package audience

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/host"
)

// CheckBounds returns an error if the state is inconsistent, or a bound is exceeded.
func (a *Audience) CheckBounds(stateBytes int) error {
	if got, want := a.Memory(), a.MemoryBound(stateBytes); got > want {
		return fmt.Errorf("audience: got %d bytes of memory, want at most %d", got, want)
	}
	if got, want := a.spectators(), a.options.MaxSpectators; got > want || len(a.peers) != len(a.byID) {
		return fmt.Errorf("audience: got %d spectators, want at most %d; %d peers and %d ids", got, want, len(a.peers), len(a.byID))
	}
	var count [host.Closed + 1]int
	for _, p := range a.peers {
		count[p.state]++
		switch {
		case len(p.out) > maxPrivate:
			return fmt.Errorf("audience: peer %d: %d bytes wait, want at most %d", p.id, len(p.out), maxPrivate)
		case p.streams() && (p.cursor > a.sent || p.acked > p.high || p.cursor > p.high):
			return fmt.Errorf("audience: peer %d: cursor %d, acked %d, highest %d, shown %d", p.id, p.cursor, p.acked, p.high, a.sent)
		case p.streams() && a.cutFor(p) != nil && p.cursor > a.cutFor(p).from:
			return fmt.Errorf("audience: peer %d: got records beyond a cut", p.id)
		case p.state != host.Syncing && p.sync != nil:
			return fmt.Errorf("audience: peer %d, %s, has a keyframe", p.id, p.state)
		}
	}
	if count != a.count {
		return fmt.Errorf("audience: got %v peers by state, want %v", a.count, count)
	}
	return a.addresses.check(len(a.peers) - a.count[host.Closed])
}

// check returns an error if the table is inconsistent. users is the expected number of connections.
func (t *addresses) check(users int) error {
	sum := 0
	for i, x := range t.all {
		sum += x.users
		if i > 0 && t.all[i-1].key >= x.key {
			return fmt.Errorf("audience: address %d of %d is not in order", i, len(t.all))
		}
	}
	if sum != users || len(t.all) > t.max {
		return fmt.Errorf("audience: got %d addresses with %d users, want at most %d with %d", len(t.all), sum, t.max, users)
	}
	return nil
}

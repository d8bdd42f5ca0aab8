package simulate

import (
	"fmt"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	leaseTime = 1200 * ms
	lookEvery = 50 * ms // between two looks for a match to take
)

// A node is one of the servers of a cluster: a machine whose program renews its lease, and takes the match when it is its
// turn.
type node struct {
	c      *cluster
	index  int
	name   string // of the present program
	starts int

	down   lockstep.Time // the program starts then; 0: it runs
	paused lockstep.Time // it does nothing before
	cut    lockstep.Time // it does not reach the store before

	leases   *ownership.Leases
	seen     map[string]uint64 // the last revision of each lease; only looked up
	known    entry             // the last entry that it has seen …
	knownAt  lockstep.Time     // … at this time
	renewAt  lockstep.Time
	renewing lockstep.Time // when the renewal that is on its way counts as failed; 0: none is
	lookAt   lockstep.Time
	placing  lockstep.Time // when the change of the entry that is on its way counts as lost; 0: none is
	leaving  bool          // the entry must say that the match is released
	server   *server       // that has or had the match; nil: none
	takeover *takeover
}

// boot starts the program.
func (n *node) boot() {
	w := n.c.w
	n.starts++
	n.name = fmt.Sprintf("%c%d", 'A'+n.index, n.starts)
	n.leases, n.seen, n.known = ownership.NewLeases(n.name, leaseTime), map[string]uint64{}, entry{}
	n.down, n.paused, n.renewing, n.placing, n.leaving = 0, 0, 0, 0, false
	n.renewAt, n.lookAt = w.now, w.now
}

// crash ends the program at once.
func (n *node) crash(until lockstep.Time) {
	w := n.c.w
	w.Crashes++
	w.check()
	if n.server != nil {
		n.server.chance = n.c.random
		n.server.hangUp(false)
		n.server.replica.drop()
	}
	n.server, n.takeover = nil, nil
	n.down = max(until, w.now+1)
	w.trouble(n.down)
}

// pause stops the program for a while.
func (n *node) pause(until lockstep.Time) {
	n.paused = max(n.paused, until)
	if n.server != nil {
		n.server.stalled = max(n.server.stalled, n.paused)
	}
}

// due returns when the node has something to do.
func (n *node) due() lockstep.Time {
	if n.down > 0 {
		return n.down
	}
	at := min(n.renewAt, n.lookAt)
	if n.takeover != nil {
		at = min(at, n.takeover.due())
	}
	if s := n.server; s != nil {
		at = min(at, max(s.replica.due(), s.stalled))
		if s.suspended {
			at = min(at, s.flushBy)
		}
		if s != n.c.w.server && s.up() {
			at = min(at, s.due(), max(s.arrival(), s.stalled))
		}
	}
	return max(at, n.paused)
}

// step does what is due now.
func (n *node) step() {
	w := n.c.w
	switch {
	case n.down > 0:
		if n.down <= w.now {
			n.boot()
		}
		return
	case n.paused > w.now:
		return
	}
	if n.renewAt <= w.now {
		n.renew()
	}
	if n.lookAt <= w.now {
		n.lookAt = w.now + lookEvery
		n.look()
	}
	if n.takeover != nil {
		n.takeover.step()
	}
	if n.server != nil {
		n.server.follow()
	}
}

// renew renews the lease.
func (n *node) renew() {
	w, x := n.c.w, n.c.store
	if n.renewing > 0 && n.renewing <= w.now {
		n.renewing = 0
		n.leases.Failed()
	}
	n.renewAt = w.now + n.leases.Period()
	if n.renewing > 0 {
		return
	}
	sent, number := w.now, w.now+leaseTime/2
	n.renewing = number
	x.send(w.now, n, func() func() {
		revision := x.renew(n.name, w.now)
		return func() {
			if n.renewing == number {
				n.renewing = 0
				n.leases.Renewed(revision, sent, w.now)
			}
		}
	})
}

// look sees the leases and the entry, and takes the match if it should.
func (n *node) look() {
	w, x := n.c.w, n.c.store
	if w.now < n.cut || w.now < max(x.away, x.stalled) {
		return
	}
	for _, l := range x.leases {
		if l.revision > n.seen[l.name] && l.at+newsTime <= w.now {
			n.seen[l.name] = l.revision
			n.leases.Seen(l.name, l.revision, w.now)
		}
	}
	if x.entry.revision > n.known.revision && x.entry.at+newsTime <= w.now {
		n.known, n.knownAt = x.entry, w.now
	}
	if n.placing > 0 && n.placing <= w.now {
		n.placing = 0
	}
	switch s := n.server; {
	case n.placing > 0:
	case s == nil && n.takeover == nil && n.shouldTake():
		n.place(recovering, func() { n.take(false) })
	case n.leaving && (n.known.server != n.name || n.known.state == released):
		n.leaving = false
	case n.leaving:
		n.place(released, func() {})
	case s != nil && s.up() && !s.suspended:
		s.compare(n.known)
	}
}

// shouldTake reports whether the match has no server, and it is this one's turn.
func (n *node) shouldTake() bool {
	e, now := n.known, n.c.w.now
	since := n.knownAt
	if e.server == n.name && e.state == recovering {
		return true // the answer to its own change of the entry got lost
	}
	if e.state != released {
		if !n.leases.Expired(e.server, now) {
			return false
		}
		since = n.leases.Since(e.server)
	}
	var able []string
	for _, l := range n.c.store.leases {
		if n.seen[l.name] > 0 {
			able = append(able, l.name)
		}
	}
	return n.leases.Turn("match", able, since, now)
}

// place changes the entry, and then calls done, unless another server was faster or the answer is lost.
func (n *node) place(state placed, done func()) {
	w, x := n.c.w, n.c.store
	e := n.known
	e.server, e.state = n.name, state
	if state == playing {
		e.term = n.server.replica.owner.End().Term
	}
	number := w.now + 2*sec
	n.placing = number
	x.send(w.now, n, func() func() {
		now, ok := x.place(e, w.now)
		return func() {
			if n.placing != number {
				return
			}
			n.placing = 0
			if now.revision > n.known.revision {
				n.known, n.knownAt = now, w.now
			}
			if ok {
				done()
			}
		}
	})
}

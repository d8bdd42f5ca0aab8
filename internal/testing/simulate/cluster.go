package simulate

import (
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A ClusterPlan makes the log of a match a replicated one, which several servers can continue.
type ClusterPlan struct {
	Servers  int           `json:"servers"`
	Delay    lockstep.Time `json:"delay"`    // of a request or an answer of the store, at most
	Message  int           `json:"message"`  // the largest size of a message
	Recovery lockstep.Time `json:"recovery"` // how long a recovery takes, at most
}

// expandCluster gives some plans a cluster.
func expandCluster(o *Options, p *Plan) {
	r := stream(p.Seed, "cluster", 0)
	if on := r.IntN(4) == 0; o.Calm || p.Host.Limits || p.Host.Relay || !on && !o.onlyClusters() {
		return
	}
	p.Cluster = &ClusterPlan{
		Servers: 2 + min(r.IntN(3), 1), Delay: between(r, ms, 12*ms), Message: 128 << r.IntN(8), Recovery: between(r, 20*ms, 400*ms),
	}
	p.Disk.Await, p.Disk.EachFrame = true, false // clients see what is stored
}

// valid reports whether a plan from a file is one that a world can have.
func (p *ClusterPlan) valid() bool {
	return p == nil || p.Servers >= 2 && p.Servers <= 8 && p.Message >= 128 && p.Message <= 1<<20 && within(1, longest, p.Delay) && within(10*ms, longest, p.Recovery)
}

// A cluster is the servers of which one has the match, and their store.
type cluster struct {
	w      *world
	random *rand.Rand
	store  *store
	nodes  []*node
	log    replicated

	crashAt  takeoverStage // where the next takeover crashes
	crashFor lockstep.Time
}

// A takeoverStage is a moment of a takeover.
type takeoverStage uint8

const (
	noStage takeoverStage = iota
	beforeClaim
	claimOnItsWay
	afterClaim
)

func newCluster(w *world) *cluster {
	p := w.plan.Cluster
	if p == nil {
		return nil
	}
	c := &cluster{w: w, random: stream(w.plan.Seed, "servers", 0), store: &store{random: stream(w.plan.Seed, "store", 0), delay: p.Delay}}
	for i := range p.Servers {
		n := &node{c: c, index: i}
		n.boot()
		c.nodes = append(c.nodes, n)
	}
	w.count("match with a replicated log")
	return c
}

// begin gives the match to the first node.
func (c *cluster) begin(s *server) {
	n := c.nodes[0]
	s.node, n.server = n, s
	s.replica = newReplica(s, ownership.End{})
	c.store.place(entry{server: n.name, state: playing, term: 1}, c.w.now)
	n.known = c.store.entry
}

func (c *cluster) due() lockstep.Time {
	if c == nil {
		return never
	}
	at := c.store.due()
	for _, n := range c.nodes {
		at = min(at, n.due())
	}
	return at
}

func (c *cluster) step() {
	c.store.step(c.w.now)
	for _, n := range c.nodes {
		if n.due() <= c.w.now {
			n.step()
		}
	}
}

// stored follows a message that the store has taken from a server, which sent it at a time.
func (c *cluster) stored(r *replica, sent lockstep.Time, message []byte) {
	s := r.server
	if r.dropped > 0 && sent > r.dropped {
		c.w.fail("I19", "%s appends to a log that it has given up", s.node.name)
	}
	if c.log.take(c.w, r.name, message) && s != c.w.server {
		c.claimed(s)
	}
}

// claimed makes a server the one that has the match. The server before may run on, and does not know it.
func (c *cluster) claimed(s *server) {
	w, before := c.w, c.w.server
	if before.up() {
		before.log = before.replica
		w.count("server that lost its match and does not know it")
		if len(before.wires) > 0 {
			w.count("clients of a server that lost its match")
		}
	}
	before.deposedAt = w.now
	n := len(c.log.records)
	if n == 0 {
		w.fail("I19", "%s has claimed a log without records", s.node.name)
		return
	}
	ticks := w.oracle.now().ticks
	if t := ticks[n-1]; t < w.oracle.shown {
		w.fail("I3", "the replicated log has %d ticks, and a client has received tick %d", t, w.oracle.shown)
	} else if t < w.oracle.tick() {
		w.count("takeover with lost ticks")
	}
	old := w.oracle.now()
	if err := w.oracle.resume(n, ticks[n-1]); err != nil {
		w.fail("I19", "the replicated log: %v", err)
		return
	}
	if old.records != nil { // what the server before writes from now on is of no match
		old.records, old.ticks = old.records[:n:n], old.ticks[:n:n]
	}
	s.epoch = len(w.oracle.epochs) - 1
	w.server = s
	w.wakeWires = true
	w.trouble(w.now)
}

// crashes crashes the node if a takeover is to crash at this stage.
func (c *cluster) crashes(n *node, at takeoverStage) bool {
	if c.crashAt != at {
		return false
	}
	c.crashAt = noStage
	c.w.count([...]string{beforeClaim: "takeover that crashed before its claim", claimOnItsWay: "takeover that crashed during its claim", afterClaim: "takeover that crashed after its claim"}[at])
	n.crash(c.w.now + c.crashFor)
	return true
}

// reaches returns the server that clients connect to: the one in the directory.
func (w *world) reaches() *server {
	if c := w.cluster; c != nil {
		for _, n := range c.nodes {
			if n.name == c.store.entry.server && n.server != nil && n.server.up() {
				return n.server
			}
		}
	}
	return w.server
}

// runs reports whether a server runs that continues an epoch.
func (c *cluster) runs(epoch int) bool {
	return c != nil && slices.ContainsFunc(c.nodes, func(n *node) bool { return n.server != nil && n.server.epoch == epoch })
}

// heal ends all faults.
func (c *cluster) heal() {
	if c == nil {
		return
	}
	x, now := c.store, c.w.now
	x.stalled, x.away, x.losing, x.old, x.slow, c.crashAt = 0, 0, false, false, 0, noStage
	for _, r := range x.requests {
		r.at = min(r.at, now+x.delay)
	}
	for _, n := range c.nodes {
		if n.down > 0 {
			n.down = now
		}
		n.paused, n.cut = min(n.paused, now), 0
		if n.server != nil {
			n.server.stalled = min(n.server.stalled, now)
		}
	}
}

// leaveTime is how long a server that lost its match, and runs, has until its clients are told to leave.
const leaveTime = 6 * sec

// check checks that no client stays with a server that lost its match, and that the match has a server.
func (c *cluster) check() {
	if c == nil {
		return
	}
	w := c.w
	for _, n := range c.nodes {
		s := n.server
		if s == nil || s.owns() || len(s.wires) == 0 || !w.server.up() {
			continue
		}
		since := max(s.deposedAt, n.paused, s.stalled, w.server.startedAt, s.replica.silent)
		if s.replica.silent == 0 {
			since = max(since, n.cut, c.store.away, c.store.stalled) // it has nothing to write, and hears nothing
		}
		if w.now > since+leaveTime {
			w.fail("I20", "%s lost the match %d s ago, and has %d clients", n.name, (w.now-s.deposedAt)/sec, len(s.wires))
		}
	}
	if !w.server.up() && w.now > w.calm+calmDown {
		w.fail("I20", "nothing is wrong with the servers for %d s, and none has the match", calmDown/sec)
	}
}

// behind reports whether the storage has not answered for the last records of the match.
func (c *cluster) behind() bool {
	return c != nil && (c.w.now < max(c.store.away, c.store.stalled)+sec || c.w.server.replica.silent > 0)
}

// finished checks the log of a match that has ended.
func (c *cluster) finished() {
	if c == nil {
		return
	}
	if !c.log.sameRecords(c.w.oracle) {
		c.w.fail("I19", "the replicated log has %d records, or others than the %d of the match", len(c.log.records), len(c.w.oracle.now().records))
	}
}

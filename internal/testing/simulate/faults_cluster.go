package simulate

import "github.com/seed-49bee653/samestep/lockstep"

// clusterKinds are the faults of servers that share a store, and of the store.
var clusterKinds = []kind{
	{name: "owner crash", group: "cluster", perHour: 40, low: 100 * ms, high: 8 * sec, needs: owned, inject: func(w *world, _ *machine, f *Fault) bool {
		w.server.node.crash(w.now + f.For)
		return true
	}},
	{name: "owner pause", group: "cluster", perHour: 40, low: leaseTime, high: 8 * sec, needs: owned, inject: func(w *world, _ *machine, f *Fault) bool {
		w.server.node.pause(w.now + f.For)
		return true
	}},
	{name: "owner cut off", group: "cluster", perHour: 40, low: 100 * ms, high: 12 * sec, needs: owned, inject: func(w *world, _ *machine, f *Fault) bool {
		n := w.server.node
		n.cut = max(n.cut, w.now+f.For)
		return true
	}},
	crashingTakeover("takeover crash before the claim", beforeClaim),
	crashingTakeover("takeover crash in the claim", claimOnItsWay),
	crashingTakeover("takeover crash after the claim", afterClaim),
	{name: "two takeovers", group: "cluster", perHour: 40, n: 1, needs: owned, inject: func(w *world, _ *machine, f *Fault) bool {
		if f.N == 1 {
			w.server.node.crash(w.now + sec)
		}
		return w.cluster.rivals() > 0
	}},
	{name: "move", group: "cluster", perHour: 40, needs: owned, inject: func(w *world, _ *machine, f *Fault) bool {
		if !w.server.ready() || w.server.host.Err() != nil {
			return false
		}
		w.server.suspend()
		return true
	}},
	{name: "store stall", group: "cluster", perHour: 30, low: 500 * ms, high: 7 * sec, needs: clustered, inject: func(w *world, _ *machine, f *Fault) bool {
		w.cluster.store.stalled = max(w.cluster.store.stalled, w.now+f.For)
		return true
	}},
	{name: "store away", group: "cluster", perHour: 10, low: 2 * sec, high: 25 * sec, needs: clustered, inject: func(w *world, _ *machine, f *Fault) bool {
		w.cluster.store.away = max(w.cluster.store.away, w.now+f.For)
		return true
	}},
	{name: "store slow", group: "cluster", perHour: 30, low: sec, high: 10 * sec, n: 2000, needs: clustered, inject: func(w *world, _ *machine, f *Fault) bool {
		w.cluster.store.slow = lockstep.Time(f.N) * ms
		return true
	}, restores: func(w *world, _ *machine, _ *Fault) { w.cluster.store.slow = 0 }},
	{name: "store loses answers", group: "cluster", perHour: 30, low: sec, high: 10 * sec, needs: clustered, inject: func(w *world, _ *machine, _ *Fault) bool {
		w.cluster.store.losing = true
		return true
	}, restores: func(w *world, _ *machine, _ *Fault) { w.cluster.store.losing = false }},
	{name: "old reads", group: "cluster", perHour: 30, low: sec, high: 15 * sec, needs: clustered, inject: func(w *world, _ *machine, _ *Fault) bool {
		w.cluster.store.old = true
		return true
	}, restores: func(w *world, _ *machine, _ *Fault) { w.cluster.store.old = false }},
}

func clustered(w *world, _ *machine) bool { return w.cluster != nil }

// owned is what faults of the server need that has the match.
func owned(w *world, _ *machine) bool { return w.cluster != nil && w.server.up() && !w.oracle.ended }

// crashingTakeover returns a fault that crashes the owner, and then the takeover that follows.
func crashingTakeover(name string, at takeoverStage) kind {
	return kind{name: name, group: "cluster", perHour: 20, low: 100 * ms, high: 5 * sec, needs: owned, inject: func(w *world, _ *machine, f *Fault) bool {
		w.cluster.crashAt, w.cluster.crashFor = at, f.For
		w.server.node.crash(w.now + f.For)
		return true
	}}
}

// rivals lets all servers that run without the match take it at once, whatever the leases and the directory say. It returns
// how many there are.
func (c *cluster) rivals() (n int) {
	for _, one := range c.nodes {
		if one.down == 0 && one.paused <= c.w.now && one.server == nil && one.takeover == nil {
			one.take(true)
			n++
		}
	}
	return n
}

// fits reports whether a plan can have faults of the kind. The servers of a cluster keep no match on their disks.
func (k *kind) fits(p *Plan) bool {
	if p.Cluster == nil {
		return k.group != "cluster"
	}
	return k.group != "disk" && (k.group != "server" || k.name == "server stall")
}

// onlyClusters reports whether all faults that the options allow need a cluster.
func (o *Options) onlyClusters() bool {
	for _, name := range o.Only {
		if Group(name) != "cluster" {
			return false
		}
	}
	return len(o.Only) > 0
}

package simulate

import (
	"strings"
	"testing"
)

// clusterControls break what a cluster promises.
var clusterControls = []control{
	{"a record that is seen before it is stored", "I19", "was sent record", func(t *testing.T, w *world) {
		w.cluster.store.stalled = w.now + 3*sec
		w.until(w.now + 200*ms)
		w.server.host.Persisted(w.now, 1<<40)
		w.server.after()
	}},
	{"a state that is seen before it is stored", "I19", "was sent the state at record", func(t *testing.T, w *world) {
		w.cluster.log.records = w.cluster.log.records[:1]
		w.cluster.log.sawState(w, w.machines[0], 2)
	}},
	{"two writers of a term", "I19", "A1 has appended records of term 1, and B1 has the log in term 1", func(t *testing.T, w *world) {
		w.cluster.log.writer = "B1"
	}},
	{"a claim that skips a term", "I19", "has appended a claim of term 2", func(t *testing.T, w *world) {
		w.cluster.log.term++
		w.server.node.pause(w.now + sec)
		w.cluster.rivals()
	}},
	{"a message that is missing", "I19", "does not follow the one before", func(t *testing.T, w *world) {
		w.cluster.log.check++
	}},
	{"bytes that are no message", "I19", "that are no message", func(t *testing.T, w *world) {
		w.cluster.stored(w.server.replica, w.now, []byte{1, 2})
	}},
	{"a log that is given up", "I19", "A1 appends to a log that it has given up", func(t *testing.T, w *world) {
		w.server.replica.dropped = w.now - 1
		w.cluster.stored(w.server.replica, w.now, nil)
	}},
	{"a record of another match", "I19", "has appended another record", func(t *testing.T, w *world) {
		w.cluster.log.parts = []byte{0x92, recordEmpty, 2}
		w.cluster.log.complete(w, "A1")
	}},
	{"a takeover that has read something else", "I19", "and the log that it has claimed has", func(t *testing.T, w *world) {
		w.server.node.pause(w.now + sec)
		w.cluster.nodes[1].take(true)
		for w.cluster.nodes[1].takeover.asked > 0 {
			w.until(w.now + ms)
		}
		if err := w.cluster.nodes[1].takeover.writer.Append(emptyTick); err != nil {
			t.Fatal(err)
		}
	}},
	{"a record that is missing in the end", "I19", "of the match", func(t *testing.T, w *world) {
		w.cluster.log.records = w.cluster.log.records[1:]
		w.cluster.finished()
	}},
	{"a tick that a takeover takes back", "I3", "and a client has received tick", func(t *testing.T, w *world) {
		w.oracle.shown += 1000
		w.server.node.crash(w.now + sec)
	}},
	{"a server that lost its match and goes on", "I20", "A1 lost the match", func(t *testing.T, w *world) {
		n := w.server.node
		n.pause(w.now + 4*sec)
		w.until(w.now + 4*sec)
		n.server.replica.drop()
		n.lookAt = never
	}},
	{"a match that nobody takes", "I20", "and none has the match", func(t *testing.T, w *world) {
		w.server.node.crash(w.now + sec)
		for _, n := range w.cluster.nodes {
			n.down = never
		}
	}},
	{"a released match without its last records", "I20", "releases the match", func(t *testing.T, w *world) {
		w.server.suspend()
		w.server.replica.drop()
	}},
}

// Each check of a cluster finds its violation.
func TestControlsOfCluster(t *testing.T) {
	o := Options{Subject: Drones(16), Clients: 3, Length: 90 * sec, Calm: true}
	o.fill()
	for _, c := range clusterControls {
		t.Run(c.name, func(t *testing.T) {
			p := Expand(o, 2)
			p.Host.Wait, p.Host.SpectatorDelay = 0, 0
			p.Cluster, p.Disk.Await, p.Disk.EachFrame = &ClusterPlan{Servers: 3, Delay: 5 * ms, Message: 4096, Recovery: 100 * ms}, true, false
			w, err := newWorld(o.Subject, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range w.machines {
				m.unaffected = false // or I13 would be found first
			}
			w.quiet = false
			w.protect(func() {
				w.until(w.start + 25*sec)
				c.sabotage(t, w)
				w.until(w.start + p.Chaos)
			})
			if v := w.violation; v == nil || v.Invariant != c.invariant || !strings.Contains(v.Text, c.text) {
				t.Errorf("got %v, want a violation of %s: %s", v, c.invariant, c.text)
			}
		})
	}
}

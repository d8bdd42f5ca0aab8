package simulate

import (
	"bytes"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// A takeover is a server that continues the match: it reads the log, claims it, and recovers the match.
type takeover struct {
	node   *node
	server *server // that will have the match
	rival  bool    // it does not care for the directory
	reader ownership.Reader
	old    *file // the log as a file
	writer *replay.Writer

	asked     lockstep.Time // when it last began to read the log; 0: it has read it
	recoverAt lockstep.Time // when it has simulated the match; 0: it has no claim yet
}

// take begins a takeover.
func (n *node) take(rival bool) {
	t := &takeover{node: n, rival: rival, old: &file{disk: &disk{plan: &n.c.w.plan.Disk}}}
	t.writer = replay.NewWriter(onlyWriter{t.old}, replay.WriterOptions{Durability: replay.SyncNone})
	n.takeover = t
	t.fetch()
}

// due returns when the takeover has something to do.
func (t *takeover) due() lockstep.Time {
	switch {
	case t.recoverAt > 0:
		return t.recoverAt
	case t.asked > 0:
		return t.asked + appendTime
	}
	return t.server.replica.due()
}

// fetch reads the log from where the reader is.
func (t *takeover) fetch() {
	n := t.node
	w, x := n.c.w, n.c.store
	asked := w.now
	t.asked = asked
	x.send(w.now, n, func() func() {
		log := x.log[:x.end()]
		return func() {
			if t.asked != asked || n.takeover != t || n.c.crashes(n, beforeClaim) {
				return
			}
			t.asked = 0
			for _, m := range log {
				if m.sequence > t.reader.End().Sequence {
					t.read(m.sequence, m.message)
				}
			}
			t.claim()
		}
	})
}

// read writes the records of a message into the file.
func (t *takeover) read(sequence uint64, message []byte) {
	b, err := t.reader.Take(sequence, message)
	for err == nil && len(b) > 0 {
		var record []byte
		if record, b, err = first(b); err == nil {
			err = t.writer.Append(record)
		}
	}
	if err != nil {
		t.node.c.w.fail("I19", "%s cannot read sequence %d of the log: %v", t.node.name, sequence, err)
	}
}

// claim claims the log after what was read.
func (t *takeover) claim() {
	n := t.node
	w := n.c.w
	t.server = &server{w: w, member: member{node: n}, disk: disk{plan: &w.plan.Disk}, restart: never, chance: n.c.random}
	t.server.replica = newReplica(t.server, t.reader.End())
	t.server.replica.run()
	n.c.crashes(n, claimOnItsWay)
}

// step goes on when a result has come.
func (t *takeover) step() {
	n := t.node
	now := n.c.w.now
	switch {
	case t.recoverAt > 0:
		if t.recoverAt <= now {
			n.takeover, n.server = nil, t.server
			t.server.continues(t.old)
		}
		return
	case t.asked > 0:
		if t.asked+appendTime <= now {
			t.fetch() // the answer is lost
		}
		return
	}
	t.server.replica.run()
	switch owner := t.server.replica.owner; {
	case owner.Claimed():
		if n.c.crashes(n, afterClaim) {
			return
		}
		if err := t.writer.Flush(); err != nil {
			n.c.w.fail("I19", "%s cannot write the log into a file: %v", n.name, err)
		}
		t.recoverAt = now + between(n.c.random, 10*ms, n.c.w.plan.Cluster.Recovery)
	case owner.Lost() && (t.rival || n.known.server != n.name):
		n.c.w.count("takeover that another server has overtaken")
		n.takeover = nil
	case owner.Lost(): // the log has gone on
		t.fetch()
	}
}

// continues makes the server continue the match from the log that it has claimed.
func (s *server) continues(old *file) {
	w := s.w
	s.disk.next = &file{disk: &s.disk}
	recovery := host.NewRecovery(w.subject.Game)
	if _, err := s.recover(old, recovery); err != nil {
		w.fail("I19", "%s cannot recover the match: %v", s.node.name, err)
		return
	}
	if s.owns() {
		if n, err := w.prefix(old.data); err != nil || n != len(w.oracle.now().records) || recovery.Tick() != w.oracle.tick() {
			w.fail("I19", "%s continues after %d records and tick %d, and the log that it has claimed has %d and tick %d: %v",
				s.node.name, n, recovery.Tick(), len(w.oracle.now().records), w.oracle.tick(), err)
			return
		}
	}
	if !s.owns() && s.deposedAt == 0 { // it has taken its claim of an earlier takeover for this one's, and will find out
		s.epoch, s.deposedAt = len(w.oracle.epochs)-1, w.now
		w.count("takeover with an earlier claim")
	}
	s.disk.now, s.disk.next = s.disk.next, nil
	hosted, err := recovery.Host(w.now, s.options())
	if err != nil && s.owns() && (w.lostToReferee(err) || w.wasOver(err)) {
		return
	}
	if err != nil {
		w.fail("I19", "%s cannot continue the match after tick %d: %v", s.node.name, recovery.Tick(), err)
		return
	}
	s.started(hosted)
	s.fresh = true
	w.trouble(w.now)
	if s.owns() {
		w.barrier.hide()
		w.count("match taken over")
	}
	s.after()
}

// sameRecords reports whether the replicated log has the records of the match, all of them.
func (x *replicated) sameRecords(o *oracle) bool {
	h := o.now()
	for i := range x.records {
		if !bytes.Equal(x.records[i], h.records[i]) {
			return false
		}
	}
	return len(x.records) == len(h.records)
}

package simulate

import "github.com/seed-49bee653/samestep/lockstep"

// A member is what a server of a cluster has in addition. Servers without a cluster have none of it.
type member struct {
	node      *node
	replica   *replica
	startedAt lockstep.Time
	fresh     bool          // the directory does not say yet that it has the match
	deposedAt lockstep.Time // when another server claimed the log; 0: none has
	suspended bool          // it has told its clients to leave
	flushBy   lockstep.Time // when a suspended one waits no longer for its last records
}

// owns reports whether the match is this server's: nobody has claimed the log after it.
func (s *server) owns() bool { return s == s.w.server }

// touched handles what a result of the store has changed.
func (s *server) touched() {
	if s.up() && s.stalled <= s.w.now {
		s.after()
	}
}

// arrival returns when the next message of a client arrives.
func (s *server) arrival() lockstep.Time {
	at := never
	if s.suspended {
		return at
	}
	for _, wire := range s.wires {
		at = min(at, wire.up.due())
	}
	return at
}

// follow does what is due now of a server of a cluster, except what the world does for the one that has the match.
func (s *server) follow() {
	w := s.w
	if s.replica.run(); s.up() && s.stalled <= w.now {
		if s == w.server {
			s.after()
		} else {
			s.step()
			w.deliver(s)
		}
	}
	r := s.replica
	if s.suspended && (r.err != nil || r.owner.Stored() == r.owner.Appended() || s.flushBy <= w.now) {
		s.release()
	}
}

// replicate brings records to the replicated log, if there is one, and lets clients see those that are stored.
func (s *server) replicate() {
	r := s.replica
	if r == nil || s.stalled > s.w.now {
		return
	}
	if r.settle(); r.err != nil && !s.suspended {
		s.suspend()
	}
	r.run()
}

// compare compares the server with what the directory says. The owner of a match without new records does not learn from
// its log that another server has it.
func (s *server) compare(e entry) {
	switch elsewhere, term := e.server != s.node.name, s.replica.owner.End().Term; {
	case elsewhere && e.state == playing && e.term > term:
		s.replica.err = errNotOwner
		s.touched()
	case s.fresh && (e.state != playing || elsewhere && e.term < term):
		s.node.place(playing, func() { s.fresh = false })
	}
}

// suspend stops the match, and tells the clients to come back to another server.
func (s *server) suspend() {
	s.suspended, s.flushBy = true, s.w.now+flushTime
	s.host.Admin().Move(s.w.now, movedRetry)
	s.pump()
}

// release lets another server continue the match.
func (s *server) release() {
	w, r := s.w, s.replica
	if left := r.owner.Appended() - r.owner.Stored(); left > 0 && r.err == nil && w.calm <= s.flushBy-flushTime {
		w.fail("I20", "%s releases the match, and nothing kept it from storing the last %d bytes", s.node.name, left)
	}
	r.drop()
	s.hangUp(false)
	s.node.server, s.node.leaving = nil, true
	if s.owns() {
		w.count("match released")
	}
}

// hangUp ends the process and its connections. After a power cut no client is notified.
func (s *server) hangUp(cut bool) {
	for _, wire := range s.wires {
		wire.hostGone = true
		wire.up.keep(0)
		if cut {
			wire.sever()
		} else {
			wire.down.keep(s.chance.IntN(len(wire.down.queue) + 1))
			wire.down.eof = true
		}
		wire.touch()
	}
	s.host, s.writer, s.wires, s.byID = nil, nil, nil, nil
}

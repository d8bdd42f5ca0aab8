package simulate

import (
	"bytes"
	"errors"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// The times of cluster and server, which the simulator repeats because their adapters have sockets.
const (
	appendTime     = sec       // after which the result of an append counts as lost
	askAgain       = 50 * ms   // pause after a lost read
	silentTime     = 1500 * ms // after which the server asks the others whether they have the match
	awayTime       = 15 * sec  // after which it gives the match up
	flushTime      = 3 * sec   // how long a suspended match waits for its last records
	movedRetry     = 100 * ms  // when clients of a suspended match may come back
	maxUncommitted = sec       // how late the log may be until the match is held
)

var (
	errNotOwner = errors.New("another server has the match")
	errAway     = errors.New("the store has been away for too long")
)

// A replica is the replicated log of a match as one server writes it.
type replica struct {
	name    string // of the server's program
	server  *server
	owner   *ownership.Owner
	marks   []mark
	steps   int           // of the owner so far
	until   lockstep.Time // when the result of the present one counts as lost; 0: there is none
	askAt   lockstep.Time // no step before
	silent  lockstep.Time // since when the store does not answer; 0: it answers
	late    lockstep.Time // since when records wait to be stored; 0: none does
	told    protocol.Position
	err     error         // why the server must not or cannot go on
	dropped lockstep.Time // when the server gave the log up; 0: it has not
}

// A mark is a position, and how many bytes must be stored before clients see the records before it.
type mark struct {
	at       uint64
	position protocol.Position
}

func newReplica(s *server, end ownership.End) *replica {
	return &replica{name: s.node.name, server: s, owner: ownership.Claim(s.node.name, end, s.w.plan.Cluster.Message)}
}

// Append implements [lockstep.Log].
func (r *replica) Append(raw []byte) error {
	r.owner.Append(raw)
	return nil
}

// wait makes clients see the records so far when they are stored.
func (r *replica) wait(position protocol.Position) {
	r.marks = append(r.marks, mark{r.owner.Appended(), position})
}

// due returns when the replica has something to do.
func (r *replica) due() lockstep.Time {
	switch {
	case r.dropped > 0:
		return never
	case r.until > 0:
		return r.until
	case r.askAt > r.server.w.now:
		return r.askAt
	case r.late > 0 && r.server.host != nil && r.server.host.Status().Held == "":
		return r.late + maxUncommitted + 1
	}
	return never
}

// run does the owner's next step, if its result is known.
func (r *replica) run() {
	now, c := r.server.w.now, r.server.w.cluster
	if r.until > 0 && r.until <= now {
		r.result(r.owner.Unknown, false)
	}
	if r.dropped > 0 || r.until > 0 || r.askAt > now {
		return
	}
	step := r.owner.Next()
	if step.Do == ownership.Nothing {
		return
	}
	if r.steps++; r.silent == 0 {
		r.silent = now
	}
	r.until = now + appendTime
	number, message := r.steps, bytes.Clone(step.Message)
	answer := func(tell func()) func() {
		return func() {
			if r.steps == number && r.until > 0 {
				r.result(tell, true)
				r.server.touched()
			}
		}
	}
	c.store.send(now, r.server.node, func() func() {
		if step.Do == ownership.Read {
			last := c.store.log[c.store.end()-1]
			return answer(func() { r.owner.Last(last.sequence, last.message) })
		}
		sequence, ok := c.store.append(step.Expect, message)
		if !ok {
			return answer(r.owner.Refused)
		}
		c.stored(r, now, message)
		return answer(func() { r.owner.Accepted(sequence) })
	})
}

// result tells the owner the result of its step. heard says whether the store has answered.
func (r *replica) result(tell func(), heard bool) {
	r.until = 0
	tell()
	if heard {
		r.silent = 0
	} else {
		r.askAt = r.server.w.now + askAgain
		r.doubt()
	}
	if r.owner.Lost() && r.err == nil {
		r.err = errNotOwner
	}
}

// doubt gives the match up if the store is silent, and another server runs the match by now, or it takes too long.
func (r *replica) doubt() {
	s := r.server
	switch silent := s.w.now - r.silent; {
	case r.err != nil:
	case silent > awayTime:
		r.err = errAway
	case silent > silentTime && s.w.server != s && s.w.server.up():
		r.err = errNotOwner
	}
}

// settle lets clients see what is stored, and holds the match while the log is late.
func (r *replica) settle() {
	s, stored := r.server, r.owner.Stored()
	n, position := 0, r.told
	for n < len(r.marks) && r.marks[n].at <= stored {
		position = r.marks[n].position
		n++
	}
	r.marks = r.marks[n:]
	switch {
	case len(r.marks) == 0:
		r.late = 0
	case r.late == 0 || n > 0:
		r.late = s.w.now
	}
	if n > 0 {
		r.told = position
		s.host.Persisted(s.w.now, position)
	}
	reason := ""
	if r.late > 0 && s.w.now-r.late > maxUncommitted {
		reason = "the replicated log does not answer"
	}
	if s.host.Status().Held != reason {
		s.host.Admin().Hold(s.w.now, host.Wait{Reason: reason})
	}
}

// drop gives the log up.
func (r *replica) drop() { r.dropped = r.server.w.now }

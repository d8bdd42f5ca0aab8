package host

import (
	"github.com/seed-49bee653/samestep/internal/ring"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/syncing"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A journal is the log as its readers may see it: what is durable, what the policy hides from whom, and whether it has ended.
type journal struct {
	c       *coordinator.Coordinator
	ring    *ring.Ring
	barrier syncing.Barrier
	policy  disclosure.Policy // who may see what, as the log says
	lost    lockstep.Tick     // ticks that were sealed but not in the log when it failed
}

// now returns the last sealed tick, or after a failure the last one in the log.
func (j *journal) now() lockstep.Tick { return j.c.Now() - j.lost }

// ended reports whether the log has its last record, see [Status].
func (j *journal) ended() bool { return j.c.Err() != nil && !j.c.Broken() }

// next returns the position of the next record, or of the end that the rules have decided: a joiner gets it, too.
func (j *journal) next() protocol.Position {
	next := j.ring.Next()
	if _, byRules := j.c.Result(); byRules {
		next--
	}
	return next
}

// visible returns the position of the first record that a reader may not see.
func (j *journal) visible(r disclosure.Reader) protocol.Position {
	return j.barrier.Visible(j.policy.Late(r, j.ended()), j.ring.Next())
}

// shown returns the position of the first record that a reader may not see even if it is persisted.
func (j *journal) shown(r disclosure.Reader) protocol.Position {
	return j.barrier.Shown(j.policy.Late(r, j.ended()), j.ring.Next())
}

// present returns the last sealed tick that a reader may know of.
func (j *journal) present(r disclosure.Reader) lockstep.Tick {
	return j.policy.Shown(r, j.now(), j.ended())
}

// window returns the position up to which records may be sent to a peer. It limits the number of records without an
// ack.
func (j *journal) window(p *peer) protocol.Position {
	return min(j.visible(p.reader()), p.stream.Window())
}

// persisted returns the last tick that is durable in the log.
func (j *journal) persisted() lockstep.Tick {
	t := j.c.Now()
	for p := j.ring.Next(); p > max(j.barrier.Persisted(), j.ring.First()); p-- {
		if record.KindOf(j.ring.Record(p - 1)).Advances() {
			t--
		}
	}
	return t
}

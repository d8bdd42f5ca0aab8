package evidence

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/state"
)

// An inquiry asks one witness for states, and to compute ticks again, and collects the answers.
type inquiry struct {
	witness  *Witness
	exhibits []Exhibit // the requested states
	at       int       // the one being received
	buf      []byte
	deadline lockstep.Time
	evidence *Evidence // nil if a joiner in relay mode waits for the state
	remove   bool      // the witness is removed afterwards
	again    *again    // or nil
}

// Timeout bounds the time for all states of an inquiry. Ticks that are computed again have more, see again.time.
const Timeout = 10 * lockstep.Second

// A Witness is a connection that can be asked for states, or a spectator's that reports checksums.
type Witness struct {
	ID          uint64 // the host's
	Resimulates bool   // its client knows [protocol.KindResimulate]

	inquiry *inquiry // of it, or nil
	asked   bool     // to compute ticks again, on this connection
	gone    bool

	claims   []claim
	reported lockstep.Tick // the latest claim
	agreed   lockstep.Tick // the latest tick at which it agreed
}

// A claim is a checksum that a spectator has reported. Its tick may have no verdict yet, or one that no player has
// confirmed.
type claim struct {
	tick lockstep.Tick
	hash uint64
}

// take takes a chunk of the state that is being received. It reports whether no more of it follows.
func (q *inquiry) take(m *protocol.Message, most int, schema *state.Schema) (over bool, fault Fault) {
	switch {
	case m.Total == 0 || m.Total > uint32(most):
		return true, ""
	case m.Offset != uint32(len(q.buf)) || len(m.Bytes) == 0:
		return false, "a chunk of a state out of order"
	}
	if q.buf = append(q.buf, m.Bytes...); len(q.buf) != int(m.Total) {
		return false, ""
	}
	e := &q.exhibits[q.at]
	e.Player = q.buf
	var sum checksum.Sum
	if checksum.OfBytes(&sum, schema, e.Player) == nil {
		e.Hash = sum.Hash
	}
	return true, ""
}

// answered returns the bytes of the answers so far, and of what they are compared with.
func (q *inquiry) answered() int {
	n := len(q.buf) + q.again.memory()
	for i := range q.exhibits {
		n += len(q.exhibits[i].Player)
	}
	return n
}

// memory returns the bytes that the inquiry holds.
func (q *inquiry) memory() int {
	n := cap(q.buf) + q.again.memory()
	for i := range q.exhibits {
		n += cap(q.exhibits[i].Player) + cap(q.exhibits[i].Referee)
	}
	return n
}

// Busy reports whether the witness is being asked for something.
func (w *Witness) Busy() bool { return w.inquiry != nil }

// Leave ends the witness's inquiry at the next [Collector.Advance], with what it has answered.
func (w *Witness) Leave() { w.gone = true }

// Awaited reports whether a message is a checksum that the witness was asked for. Such ones are not counted as messages.
func (w *Witness) Awaited(m *protocol.Message) bool {
	return m.Kind == protocol.KindResimulated && w.inquiry != nil && w.inquiry.again != nil && w.inquiry.again.next != 0
}

// Claimed reports whether the spectator has reported a tick, or a later one: then it simulates again, from a keyframe.
func (w *Witness) Claimed(t lockstep.Tick) bool { return t <= w.reported }

// Claim takes a checksum of a spectator. The host then compares all claims with the verdicts so far, so that there are never more claims than checks.
func (w *Witness) Claim(t lockstep.Tick, hash uint64) {
	w.reported = t
	w.claims = append(w.claims, claim{t, hash})
}

// Pending returns the tick of the oldest claim, and false if there is none.
func (w *Witness) Pending() (t lockstep.Tick, ok bool) {
	if len(w.claims) == 0 {
		return 0, false
	}
	return w.claims[0].tick, true
}

// A Comparison is what a check says of a claim.
type Comparison uint8

// The results of a comparison.
const (
	Agrees  Comparison = iota // or there is nothing to compare it with
	Waits                     // for the check
	Differs                   // and the later claims, which differ because of it, are forgotten
)

// Compare compares the oldest claim with a check, which is one of another tick if that uses its slot. confirmed says that the
// referee can no longer take back its verdict.
func (w *Witness) Compare(k coordinator.Check, confirmed bool) Comparison {
	c := w.claims[0]
	known := k.Tick == c.tick && k.Status != coordinator.CheckTied
	switch {
	case known && (k.Status == coordinator.CheckOpen || k.Hash != c.hash && !confirmed):
		return Waits
	case known && k.Hash != c.hash:
		w.Forget()
		return Differs
	case known:
		w.agreed = c.tick
	}
	w.claims = w.claims[:copy(w.claims, w.claims[1:])]
	return Agrees
}

// Agreed returns the latest tick at which the spectator agreed; 0 for none.
func (w *Witness) Agreed() lockstep.Tick { return w.agreed }

// Forget forgets the claims, because the spectator begins anew with a keyframe.
func (w *Witness) Forget() { w.claims = w.claims[:0] }

// Distrust forgets an agreement after right, the last tick at which the referee was right.
func (w *Witness) Distrust(right lockstep.Tick) { w.agreed = min(w.agreed, right) }

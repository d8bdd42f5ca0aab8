package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// In relay mode there is no referee, so a late joiner's keyframe comes from a client that reported the agreed checksum
// of a checked tick: it is the client's state after that tick, and must have that checksum. A liar cannot give a false
// state as long as most reports are right.

// A moment is a checked tick at which a joiner could begin.
type moment struct {
	tick     lockstep.Tick
	position protocol.Position // of the first record after its frame
	last     []record.LastSequence
}

// remember records the moment of a checked tick that was just sealed.
func (h *Host) remember() {
	t := h.c.Now()
	if t%lockstep.Tick(h.header.Settings.CheckEvery) != 0 {
		return
	}
	if h.moments == nil {
		h.moments = make([]moment, record.CheckWindow)
	}
	m := h.momentOf(t)
	*m = moment{t, h.ring.Next(), h.c.AppendLast(m.last[:0])}
}

func (h *Host) momentOf(t lockstep.Tick) *moment {
	return &h.moments[t/lockstep.Tick(h.header.Settings.CheckEvery)%record.CheckWindow]
}

// donorPatience is the time that a client has to send a state before other clients are asked as well.
const donorPatience = lockstep.Second

// seekState asks clients for the latest state that can be verified. It asks one client first. Each second without an
// answer it asks one more than the number of open requests.
func (h *Host) seekState() {
	if h.moments == nil || h.now < h.joins.askAt {
		return // waitingTime asks again
	}
	for more := 1 + h.evidence.Asked(); more > 0 && h.askState(); more-- {
	}
}

// askState asks one more client for a state, if one may have it.
func (h *Host) askState() bool {
	every := lockstep.Tick(h.header.Settings.CheckEvery)
	for t, i := h.c.Now()/every*every, 0; t > 0 && i < record.CheckWindow; t, i = t-every, i+1 {
		k, ok := h.c.Check(t)
		if m := h.momentOf(t); !ok || k.Status != coordinator.CheckAgreed || m.tick != t || !h.ring.Has(m.position) {
			continue
		}
		if s := h.donor(k); s != nil {
			h.joins.asked++
			s.asked, h.joins.askAt = h.joins.asked, h.now+donorPatience
			h.evidence.Ask(h.now, &s.peer.witness, t)
			h.settle()
			return true
		}
	}
	return false
}

// donor returns the seat of a live player that reported the agreed checksum of a check and is not being asked for a
// state. Of several it chooses the one that was asked least recently.
func (h *Host) donor(k coordinator.Check) (found *hostSeat) {
	for i := range h.seats {
		s := &h.seats[i]
		p := s.peer
		if p == nil || p.witness.Busy() || p.state != Live {
			continue
		}
		if hash, ok := h.c.Reported(k.Tick, lockstep.Player(i)); !ok || hash != k.Hash {
			continue
		}
		if found == nil || s.asked < found.asked {
			found = s
		}
	}
	return found
}

// adopt makes a client's state the keyframe for joiners, if it has the agreed checksum.
func (h *Host) adopt(t lockstep.Tick, state []byte, hash uint64) {
	k, ok := h.c.Check(t)
	m := h.momentOf(t)
	if state == nil || !ok || k.Status != coordinator.CheckAgreed || k.Hash != hash || m.tick != t || !h.ring.Has(m.position) {
		h.joins.askAt = h.now // waitingTime asks another client
		return
	}
	if m.position <= h.shared.position {
		return // another client answered first
	}
	h.shared = &keyframe{
		bytes: h.joins.encode(h.headerRecord, t, hash, m.last, state, h.roster(m.position)),
		tick:  t, position: m.position, made: h.now,
	}
	h.stats.SyncKeyframes++
}

// awaitState tells the coordinator that a player lacks a state, or has one again. In relay mode no check waits for a
// player without a state.
func (h *Host) awaitState(p *peer, awaits bool) {
	if h.options.Relay && p.seat != lockstep.System {
		_ = h.c.AwaitState(p.seat, awaits) // an error ends the match; Advance handles that
		h.takeDesyncs()
	}
}

package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A barrier is the visibility barrier: it hides recent ticks from delayed spectators, and records that are not
// persisted from all peers.
type barrier struct {
	persisted protocol.Position   // records before it are durable in the log
	delayed   protocol.Position   // delayed spectators may see the records before it once they are persisted
	awaited   bool                // a peer waits for a keyframe that is not persisted
	ends      []protocol.Position // the end of the records of tick t, at t modulo its length, which is the delay + 1
	snapshots []*keyframe         // for delayed spectators, oldest first: the latest visible one, and later ones
	past      []coordinator.Check // on which delayed spectators can report; tick t is at (t / CheckEvery) modulo its length
	corrected bool                // the referee has corrected checks, and past has the old ones
}

// begin prepares the barrier of a match that begins, or continues, with a keyframe.
func (b *barrier) begin(delay lockstep.Tick, first *keyframe, every lockstep.Tick) {
	if delay > 0 {
		b.ends = make([]protocol.Position, delay+1)
		b.ends[first.tick%(delay+1)] = first.position
		b.snapshots = append(b.snapshots, first)
		b.past = make([]coordinator.Check, delay/every+record.CheckWindow)
	}
}

// recordEnd records where the records of a sealed tick end, and sometimes keeps a keyframe for delayed spectators.
func (h *Host) recordEnd(t lockstep.Tick) {
	delay := h.disclosed.Delay
	if delay == 0 {
		return
	}
	h.barrier.ends[t%(delay+1)] = h.ring.Next()
	h.showCheck(t)
	h.correctSeen()
	if t%((delay+3)/4) == 0 {
		if k := h.keyframe(); k != nil {
			h.keepSnapshot(k)
		}
	}
}

// showCheck copies the check of tick t, if there is one, for spectators.
func (h *Host) showCheck(t lockstep.Tick) {
	if k, ok := h.c.Check(t); ok {
		*h.pastCheck(t) = k
	}
}

// correctSeen copies the checks that the referee has corrected.
func (h *Host) correctSeen() {
	if !h.barrier.corrected {
		return
	}
	h.barrier.corrected = false
	for i := range h.barrier.past {
		h.showCheck(h.barrier.past[i].Tick)
	}
}

// checkSeen returns the check of tick t for spectators, or another one that uses its slot.
func (h *Host) checkSeen(t lockstep.Tick) coordinator.Check {
	if len(h.barrier.past) > 0 {
		h.correctSeen()
		return *h.pastCheck(t)
	}
	k, _ := h.c.Check(t)
	return k
}

func (h *Host) pastCheck(t lockstep.Tick) *coordinator.Check {
	return &h.barrier.past[t/lockstep.Tick(h.header.Settings.CheckEvery)%lockstep.Tick(len(h.barrier.past))]
}

// keepSnapshot keeps a keyframe for delayed spectators. It drops a keyframe if spectators may already see a later one.
func (h *Host) keepSnapshot(k *keyframe) {
	c := &h.barrier
	if c.snapshots[len(c.snapshots)-1] != k {
		c.snapshots = append(c.snapshots, k)
	}
	drop := 0
	for drop+1 < len(c.snapshots) && c.snapshots[drop+1].position <= h.delayed() {
		drop++
	}
	c.snapshots = slices.Delete(c.snapshots, 0, drop)
}

// delayed returns the position of the first record that is hidden from spectators.
func (h *Host) delayed() protocol.Position {
	delay := h.disclosed.Delay
	if now := h.c.Now(); now >= delay {
		// After a recovery it is 0, which hides all records, until the last recovered tick may be seen.
		return h.barrier.ends[(now-delay)%(delay+1)]
	}
	return 1
}

// visible returns the position of the first record that a peer may not see.
func (h *Host) visible(p *peer) protocol.Position { return min(h.shown(p), h.barrier.persisted) }

// shown returns the position of the first record that a peer may not see even if it is persisted.
func (h *Host) shown(p *peer) protocol.Position {
	end := h.ring.Next()
	if h.disclosed.Late(p.reader(), h.LogEnded()) {
		end = min(end, h.barrier.delayed)
	}
	return end
}

// LogEnded reports whether the log has its last record. A log that failed, or that a shutdown left, has none: the match
// may continue from it, and hides what its [disclosure.Policy] hides.
func (h *Host) LogEnded() bool { return h.c.Err() != nil && !h.c.Broken() }

// present returns the last sealed tick that a peer may know of.
func (h *Host) present(p *peer) lockstep.Tick {
	return h.disclosed.Shown(p.reader(), h.Now(), h.LogEnded())
}

// keyframeFor returns the latest keyframe that a peer may see, or nil.
func (h *Host) keyframeFor(p *peer) *keyframe {
	k := h.keyframe()
	end := h.visible(p)
	if k != nil && k.position <= end {
		return k
	}
	if k != nil && k.position <= h.shown(p) {
		h.barrier.awaited = true
		return nil
	}
	for i := len(h.barrier.snapshots) - 1; i >= 0; i-- {
		if k := h.barrier.snapshots[i]; k.position <= end && h.ring.Has(k.position) {
			return k
		}
	}
	return nil
}

// untilSeen returns the time, at the match's current speed, until delayed spectators can see anything. After a recovery
// it is the whole delay.
func (h *Host) untilSeen() lockstep.Time {
	if h.disclosed.Delay == 0 {
		return 0
	}
	seen := h.barrier.snapshots[0].tick + h.disclosed.Delay
	if h.barrier.snapshots[0].tick == 0 || h.c.Now() >= seen {
		return 0
	}
	return lockstep.Time(seen-h.c.Now()) * h.pace.Period()
}

// reader returns for whom a peer reads the match.
func (p *peer) reader() disclosure.Reader {
	if p.seat == lockstep.System {
		return disclosure.Spectator
	}
	return disclosure.Player
}

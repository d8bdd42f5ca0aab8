package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A barrier is the visibility barrier: it hides sealed ticks from delayed spectators,
// and from all peers what is not persisted.
type barrier struct {
	persisted protocol.Position   // records before it are in the log for good
	delayed   protocol.Position   // records before it may be seen by delayed spectators, when they are persisted
	awaited   bool                // a peer waits for a keyframe that is not persisted
	ends      []protocol.Position // after the records of tick t, at t modulo its length: as many as the delay has, and one
	snapshots []*keyframe         // for delayed spectators, the oldest first: the last one that they may see, and later ones
	past      []coordinator.Check // that delayed spectators can report on, of tick t at (t / CheckEvery) modulo its length
	corrected bool                // the referee has taken checks back since the last tick
	held      string              // why no tick is sealed; "" if they are
}

// raise makes the barrier of a match that begins, or goes on, with a keyframe.
func (c *barrier) raise(o *Options, first *keyframe, every lockstep.Tick) {
	if o.SpectatorDelay > 0 {
		c.ends = make([]protocol.Position, o.SpectatorDelay+1)
		c.ends[first.tick%(o.SpectatorDelay+1)] = first.position
		c.snapshots = append(c.snapshots, first)
		c.past = make([]coordinator.Check, o.SpectatorDelay/every+record.CheckWindow)
	}
}

// draw notes what the records of a tick are, which was sealed, and from time to
// time makes a keyframe that delayed spectators can begin with later.
func (h *Host) draw(t lockstep.Tick) {
	delay := h.options.SpectatorDelay
	if delay == 0 {
		return
	}
	h.barrier.ends[t%(delay+1)] = h.ring.Next()
	h.showCheck(t)
	if h.barrier.corrected {
		h.barrier.corrected = false
		for i := range h.barrier.past {
			h.showCheck(h.barrier.past[i].Tick)
		}
	}
	if t%((delay+3)/4) == 0 {
		if k := h.keyframe(); k != nil {
			h.keepSnapshot(k)
		}
	}
}

// showCheck copies what is known of the check of tick t, if there is one, for
// spectators.
func (h *Host) showCheck(t lockstep.Tick) {
	if k, ok := h.c.Check(t); ok {
		*h.pastCheck(t) = k
	}
}

// checkSeen returns the check of tick t for spectators, or another one in its slot.
func (h *Host) checkSeen(t lockstep.Tick) coordinator.Check {
	if len(h.barrier.past) > 0 {
		return *h.pastCheck(t)
	}
	k, _ := h.c.Check(t)
	return k
}

func (h *Host) pastCheck(t lockstep.Tick) *coordinator.Check {
	return &h.barrier.past[t/lockstep.Tick(h.header.Settings.CheckEvery)%lockstep.Tick(len(h.barrier.past))]
}

// keepSnapshot keeps a keyframe for delayed spectators, and none that a later one
// which they may see, too, is better than.
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

// delayed returns the position of the first record that spectators may not see.
func (h *Host) delayed() protocol.Position {
	delay := h.options.SpectatorDelay
	if now := h.c.Now(); now >= delay {
		// After a recovery it is 0, before all records, until the tick that the
		// match went on after may be seen.
		return h.barrier.ends[(now-delay)%(delay+1)]
	}
	return 1
}

// visible returns the position of the first record that a peer may not see.
func (h *Host) visible(p *peer) protocol.Position { return min(h.shown(p), h.barrier.persisted) }

// shown returns the position of the first record that a peer may not see even if it
// is persisted.
func (h *Host) shown(p *peer) protocol.Position {
	end := h.ring.Next()
	if p.seat == lockstep.System && h.options.SpectatorDelay > 0 && !h.ended() {
		end = min(end, h.barrier.delayed)
	}
	return end
}

// ended reports whether the log has its end. One that failed, or was left at a
// shutdown, has none: the match may go on from it.
func (h *Host) ended() bool { return h.c.Err() != nil && !h.c.Broken() }

// present returns the last tick that a peer could know of.
func (h *Host) present(p *peer) lockstep.Tick {
	if p.seat == lockstep.System {
		return h.Now() - min(h.Now(), h.options.SpectatorDelay)
	}
	return h.Now()
}

// keyframeFor returns the latest keyframe that a peer may see, or nil if
// there is none yet.
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

// untilSeen returns how long it will be, at the match's present speed, until
// delayed spectators can see anything. After a recovery that is the whole delay.
func (h *Host) untilSeen() lockstep.Time {
	if h.options.SpectatorDelay == 0 {
		return 0
	}
	seen := h.barrier.snapshots[0].tick + h.options.SpectatorDelay
	if h.barrier.snapshots[0].tick == 0 || h.c.Now() >= seen {
		return 0
	}
	return lockstep.Time(seen-h.c.Now()) * h.clock.period()
}

// Hold lets no further tick be sealed, for a reason that concerns the server,
// such as a full disk, and tells all peers. Without a reason the match goes on.
func (h *Host) Hold(now lockstep.Time, reason string) {
	h.at(now)
	reason = pack.Clip(reason, record.MaxNote)
	if h.over || reason == h.barrier.held {
		return
	}
	h.barrier.held = reason
	h.pace.heldAt = h.now // a WaitPolicy charges nobody for the time that the server holds the match
	h.event(Event{Kind: MatchHeld, Player: lockstep.System, Text: reason})
	for _, p := range h.peers {
		if p.state != Connecting {
			h.error(p, protocol.ErrorHeld, reason, "")
		}
	}
}

// Held returns why no tick is sealed, or nothing.
func (h *Host) Held() string { return h.barrier.held }

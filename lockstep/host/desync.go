package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// takeDesyncs handles new desync reports of the coordinator.
func (h *Host) takeDesyncs() {
	for _, r := range h.c.Desyncs() {
		h.desync(r)
	}
}

func (h *Host) desync(r *coordinator.DesyncReport) {
	h.stats.Desyncs++
	switch {
	case r.Tie:
		h.tie(r)
		return
	case r.Resimulation == coordinator.RefereeWrong:
		if r.Player != lockstep.System {
			h.inquire(r, h.seats[r.Player].peer)
		}
		h.distrust(r.Tick, r.Agreed)
		return
	}
	s := &h.seats[r.Player]
	e := Event{Kind: PeerDesynced, Tick: r.Tick, Player: r.Player, Text: r.String()}
	if s.peer != nil {
		e.Peer = s.peer.id
	}
	h.event(e)
	h.inquire(r, s.peer)
	if p := s.peer; p != nil {
		h.message = protocol.Message{Kind: protocol.KindDesyncReport, Tick: r.Tick, Player: r.Player, Agreed: r.Agreed, Field: r.Section}
		h.private(p, &h.message)
		h.react(p, &s.resynced)
	}
}

// distrust reports that the referee was wrong at a tick. It drops the unsent keyframes that the referee made after
// right, the last tick at which it was right.
func (h *Host) distrust(t, right lockstep.Tick) {
	h.stats.RefereeFaults++
	h.event(Event{Kind: RefereeHealed, Tick: t, Player: lockstep.System, Text: "computed again, its state is another one, which it takes"})
	h.barrier.corrected = true
	h.shared.made = h.now - h.options.KeyframeInterval // makes another one due
	if snapshots := h.barrier.snapshots; len(snapshots) > 1 {
		later := slices.DeleteFunc(snapshots[1:], func(k *keyframe) bool { return k.tick > right })
		h.barrier.snapshots = snapshots[:1+len(later)]
	}
	for _, p := range h.peers {
		p.agreed = min(p.agreed, right) // a spectator may have agreed with the wrong state
		if p.began > right {
			p.began = 0 // the state that it was sent may be wrong
		}
		if p.sync != nil && p.sync.tick > right {
			p.sync, p.syncAt = nil, 0 // it gets the new one
			h.wakeAt(h.now)
		}
	}
}

// tie reports the first of several consecutive checks without a verdict.
func (h *Host) tie(r *coordinator.DesyncReport) {
	before := h.tied
	h.tied = r.Tick
	if before > 0 && r.Tick == before+lockstep.Tick(h.header.Settings.CheckEvery) {
		return
	}
	h.event(Event{Kind: ChecksTied, Tick: r.Tick, Player: lockstep.System, Text: r.String()})
	if h.options.Evidence {
		h.deliver(&Evidence{Report: *r, Participants: h.participants(), Commands: h.commands(r.Agreed, r.Tick)})
	}
}

// react applies the policy to a peer whose checksum differs.
func (h *Host) react(p *peer, resynced *lockstep.Tick) {
	switch h.options.Desync {
	case RemoveDesynced:
		if q := p.inquiry; q != nil && q.evidence != nil {
			q.remove = true // after its states arrive
			q.deadline = min(q.deadline, h.now+inquiryTimeout)
			h.wakeAt(q.deadline)
			return
		}
		h.kick(p, differs)
	case ResyncDesynced:
		if h.budget.Take(h.now, &p.tab, budget.Resyncs, 1) {
			*resynced = h.c.Now()
			h.stats.Resyncs++
			h.startSync(p, "desynced")
		}
	}
}

// stillDiffers applies the policy again to a player whose state still differs after a keyframe or a reconnect. The
// coordinator reports only the first of several consecutive desyncs.
func (h *Host) stillDiffers(p *peer, t lockstep.Tick) {
	s := &h.seats[p.seat]
	if h.options.Desync != LogDesynced && h.c.StillDiffers(p.seat, t) && p.state != Syncing && t > s.resynced {
		h.react(p, &s.resynced)
	}
}

// watcherReport compares a spectator's checksum. It never causes a re-simulation, because a spectator can reconnect
// without limit.
func (h *Host) watcherReport(p *peer, t lockstep.Tick, sum *checksum.Sum) {
	k := h.checkSeen(t)
	if t <= p.reported {
		return // simulated again, from a keyframe
	}
	if h.disclosed.Delay > 0 && k.Tick > t {
		return // the delay made it late
	}
	if t > h.c.Now() || k.Tick != t {
		h.offend(p, protocol.ErrorReport, "not a recent checked tick")
		return
	}
	p.reported = t
	p.claims = append(p.claims, claim{t, sum.Hash})
	reported := t
	t, differs := h.compareClaims(p)
	if !differs {
		return
	}
	m := protocol.Message{Kind: protocol.KindDesyncReport, Tick: t, Player: lockstep.System, Agreed: p.agreed}
	if referee := h.c.Referee(); referee != nil {
		if own, ok := referee.Sum(reported); ok {
			first, _ := checksum.Compare(*sum, *own, h.game.StateSchema())
			m.Field = first.Name
		}
	}
	h.event(Event{Kind: PeerDesynced, Tick: t, Peer: p.id, Player: lockstep.System, Text: m.Field})
	h.private(p, &m)
	if p.state == Syncing {
		return
	}
	var resynced lockstep.Tick // a spectator reports again after each keyframe
	h.react(p, &resynced)
}

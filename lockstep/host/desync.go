package host

import (
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

type (
	// Evidence is the data that a Host collects about a desync, or a panic of the rules.
	Evidence = evidence.Evidence

	// An Exhibit is one tick's state of both sides, in canonical bytes.
	Exhibit = evidence.Exhibit

	// A Participant is a player or spectator of a match, as its client describes it.
	Participant = evidence.Participant

	// A Resimulation is what a player whose checksum differed has computed when it was asked to compute the ticks again.
	Resimulation = evidence.Resimulation

	// A PhaseSum is a part of a tick, and the state hash at its beginning.
	PhaseSum = evidence.PhaseSum
)

// differs is why a desynced player is removed.
const differs = "its checksum differs"

// takeDesyncs handles new desync reports of the coordinator.
func (h *Host) takeDesyncs() {
	for _, r := range h.c.Desyncs() {
		h.stats.Desyncs++
		switch {
		case r.Tie:
			if !h.evidence.Tie(r.Tick) {
				continue
			}
			h.made.event(h.log.now(), Event{Kind: ChecksTied, Tick: r.Tick, Player: lockstep.System, Text: r.String()})
			h.inquire(r, nil)
		case r.Resimulation == coordinator.RefereeWrong:
			if r.Player != lockstep.System {
				h.inquire(r, h.seats[r.Player].peer)
			}
			h.distrust(r.Tick, r.Agreed)
		default:
			s := &h.seats[r.Player]
			e := Event{Kind: PeerDesynced, Tick: r.Tick, Player: r.Player, Text: r.String()}
			if s.peer != nil {
				e.Peer = s.peer.id
			}
			h.made.event(h.log.now(), e)
			h.inquire(r, s.peer)
			if p := s.peer; p != nil {
				h.private(p, &protocol.Message{Kind: protocol.KindDesyncReport, Tick: r.Tick, Player: r.Player, Agreed: r.Agreed, Field: r.Section})
				h.react(p, &s.resynced)
			}
		}
	}
}

// inquire collects evidence about a report of a player whose connection is p, or nil.
func (h *Host) inquire(r *coordinator.DesyncReport, p *peer) {
	if !h.options.Evidence {
		return
	}
	d := &evidence.Desync{Report: r, Participants: h.seats.participants(), Referee: h.c.Referee()}
	d.Commands, d.From = (*hostFrames)(h).since(r.Agreed, r.Tick)
	if p == nil {
		h.evidence.Tell(d)
	} else {
		d.Began, d.Afford = p.stream.Began(), h.budget.Room(h.now, &p.tab, budget.Comparisons)
		h.budget.Take(h.now, &p.tab, budget.Comparisons, h.evidence.Inquire(h.now, d, &p.witness))
	}
	h.settle()
}

// settle carries out what the collector of evidence wants.
func (h *Host) settle() {
	o := h.evidence.Take()
	for i := range o.Requests {
		if p := h.peers.find(PeerID(o.Requests[i].To)); p != nil {
			h.private(p, &o.Requests[i].Message)
		}
	}
	for _, id := range o.Removed {
		if p := h.peers.find(PeerID(id)); p != nil {
			h.Admin().kick(p, differs)
		}
	}
	h.made.Early = append(h.made.Early, o.Early...)
	h.made.Evidence = append(h.made.Evidence, o.Evidence...)
	for _, e := range o.States { // for joiners, unless another client has answered first
		k, ok := h.c.Check(e.Tick)
		if x := h.donors.Take(h.now, e.Tick, e.Player, e.Hash, k, ok, h.ring.First()); x != nil && h.log.keyframes.After(x.Position) {
			x.Header, x.Roster = h.log.header, h.seats.roster(h.log.talk, h.lobby, x.Position)
			h.log.keyframes.Take(h.now, x)
		}
	}
	h.wake.at(h.evidence.Next())
}

// hostFrames is the Host as a [coordinator.FrameSource]: it reads the ring.
type hostFrames Host

func (f *hostFrames) Frames(from, to lockstep.Tick) []lockstep.Frame {
	commands, reached := f.since(from, to)
	if reached > from {
		return nil
	}
	return evidence.Frames(commands, from, to)
}

// since returns the commands of the ticks from+1 to to, and the tick after which the ring has them.
//
// Sequences in the log are relative to earlier ones, some of which the ring may have lost. But they add up to the
// current ones, which are known.
func (f *hostFrames) since(from, to lockstep.Tick) (all []lockstep.Command, reached lockstep.Tick) {
	at, tick := f.ring.Next(), f.c.Now()
	for ; at > f.ring.First() && tick > from; at-- {
		if record.KindOf(f.ring.Record(at - 1)).Advances() {
			tick-- // the coordinator writes each empty tick as one record
		}
	}
	dec := record.DecoderAt(tick)
	for ; at < f.ring.Next(); at++ {
		r, _, err := dec.Decode(slices.Clone(f.ring.Record(at)))
		if err != nil {
			panic(err) // our own record
		}
		if r.Tick <= to {
			all = append(all, r.Frame.Commands...)
		}
	}
	for i := range all {
		c := &all[i]
		c.Sequence += f.c.LastLogged(c.Player) - dec.Last(c.Player)
	}
	return all, tick
}

// distrust reports that the referee was wrong at a tick. It drops the unsent keyframes that the referee made after
// right, the last tick at which it was right.
func (h *Host) distrust(t, right lockstep.Tick) {
	h.stats.RefereeFaults++
	h.made.event(h.log.now(), Event{Kind: RefereeHealed, Tick: t, Player: lockstep.System, Text: "computed again, its state is another one, which it takes"})
	h.log.checks.Correct()
	h.log.keyframes.Distrust(h.now, right)
	for _, p := range h.peers.all {
		p.witness.Distrust(right)     // a spectator may have agreed with the wrong state
		if p.stream.Distrust(right) { // it gets the new one
			h.wake.at(h.now)
		}
	}
}

// react applies the policy to a peer whose checksum differs.
func (h *Host) react(p *peer, resynced *lockstep.Tick) {
	switch h.options.Desync {
	case RemoveDesynced:
		if h.evidence.RemoveAfter(h.now, &p.witness) {
			h.wake.at(h.evidence.Next())
		} else {
			h.Admin().kick(p, differs)
		}
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
	k := h.log.check(t)
	if p.witness.Claimed(t) {
		return // simulated again, from a keyframe
	}
	if h.log.policy.Delay > 0 && k.Tick > t {
		return // the delay made it late
	}
	if t > h.c.Now() || k.Tick != t {
		h.offend(p, protocol.ErrorReport, "not a recent checked tick")
		return
	}
	p.witness.Claim(t, sum.Hash)
	first, verdict := t, evidence.Agrees
	for at, ok := p.witness.Pending(); ok && verdict == evidence.Agrees; at, ok = p.witness.Pending() {
		first, verdict = at, p.witness.Compare(h.log.check(at), h.c.Final(at) || h.seats.players() == 0)
	}
	if verdict != evidence.Differs {
		return
	}
	m := protocol.Message{Kind: protocol.KindDesyncReport, Tick: first, Player: lockstep.System, Agreed: p.witness.Agreed()}
	if referee := h.c.Referee(); referee != nil {
		if own, ok := referee.Sum(t); ok {
			section, _ := checksum.Compare(*sum, *own, h.game.StateSchema())
			m.Field = section.Name
		}
	}
	h.made.event(h.log.now(), Event{Kind: PeerDesynced, Tick: first, Peer: p.id, Player: lockstep.System, Text: m.Field})
	h.private(p, &m)
	if p.state == Syncing {
		return
	}
	var resynced lockstep.Tick // a spectator reports again after each keyframe
	h.react(p, &resynced)
}

package host

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/evidence"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
)

// differs is why a desynced player is removed.
const differs = "its checksum differs"

// takeDesyncs handles new desync reports of the coordinator.
func (h *Host) takeDesyncs() {
	if reports := h.c.Desyncs(); reports != nil {
		h.desynced(reports)
	}
}

// desynced handles desync reports, and those to which they lead.
func (h *Host) desynced(reports []*coordinator.DesyncReport) {
	for ; len(reports) > 0; reports = append(reports[1:], h.c.Desyncs()...) {
		r := reports[0]
		h.stats.Desyncs++
		switch {
		case r.Tie:
			if !h.evidence.Tie(r.Tick) {
				continue
			}
			h.out.event(Event{Kind: ChecksTied, Tick: r.Tick, Player: lockstep.System, Text: r.String()})
			h.inquire(r, nil)
		case r.Resimulation == coordinator.RefereeWrong:
			if r.Player != lockstep.System {
				h.inquire(r, h.seats.table[r.Player].peer)
			}
			h.stats.RefereeFaults++
			h.out.event(Event{Kind: RefereeHealed, Tick: r.Tick, Player: lockstep.System, Text: "resimulated to a different state, which it adopts"})
			h.log.checks.Correct()
			h.log.keyframes.Distrust(h.now, r.Agreed)
			for _, p := range h.peers.all {
				p.witness.Distrust(r.Agreed)     // a spectator may have agreed with the wrong state
				if p.stream.Distrust(r.Agreed) { // it gets the new one
					h.wake.at(h.now)
				}
			}
		default:
			s := &h.seats.table[r.Player]
			e := Event{Kind: PeerDesynced, Tick: r.Tick, Player: r.Player, Text: r.String()}
			if s.peer != nil {
				e.Peer = s.peer.id
			}
			h.out.event(e)
			h.inquire(r, s.peer)
			if p := s.peer; p != nil {
				h.peers.send(p, protocol.Message{Kind: protocol.KindDesyncReport, Tick: r.Tick, Player: r.Player, Agreed: r.Agreed, Field: r.Section})
				h.react(p, &s.resynced)
			}
		}
	}
}

// twins are the differences of the referee from its cold twins. Nobody is accused, and the referee's state stays the match's.
type twins struct {
	found []*twin.Difference // of the present tick
	count twin.Count
}

func (t *twins) take(d *twin.Difference) { t.found = append(t.found, d) }

// tell tells of what was taken.
func (t *twins) tell(h *Host) {
	if len(t.found) == 0 {
		return
	}
	for _, d := range t.found {
		h.stats.TwinDifferences++
		h.out.event(Event{Kind: WarmColdDiffer, Tick: d.Tick, Player: lockstep.System, Text: d.String()})
		h.out.made.record(record.Event(lockstep.System, record.EventTwin, pack.Clip(d.String(), record.MaxNote)))
		if h.options.Evidence {
			h.evidence.Twin(d, h.seats.participants())
		}
	}
	clear(t.found)
	t.found = t.found[:0]
	h.settle()
}

// TwinEvidence returns the evidence of a difference that a client's heavy mode has found, for its own bundle: p is its seat, or System.
func TwinEvidence(d *twin.Difference, p lockstep.Player, people []Participant) *Evidence {
	return evidence.TwinOf(d, p, people)
}

// inquire collects evidence about a report of a player whose connection is p, or nil.
func (h *Host) inquire(r *coordinator.DesyncReport, p *peer) {
	if !h.options.Evidence {
		return
	}
	d := &evidence.Desync{Report: r, Participants: h.seats.participants(), Referee: h.c.Referee()}
	d.Commands, d.From = h.log.since(r.Agreed, r.Tick)
	d.Flight = flightOf(d.Referee, r)
	h.seats.machines(d, p, func(q *peer) bool { return q.canFly(h.now, h.budget) })
	if r.Tie {
		h.evidence.InquireTie(h.now, d)
	} else if p == nil {
		h.evidence.Tell(d)
	} else {
		d.Began, d.Afford = p.stream.Began, h.budget.Room(h.now, &p.tab, budget.Comparisons)
		h.budget.Take(h.now, &p.tab, budget.Comparisons, h.evidence.Inquire(h.now, d, &p.witness))
	}
	h.settle()
}

// canFly reports whether a player can be asked for the record of its last ticks now.
func (p *peer) canFly(now lockstep.Time, b *budget.Ledger) bool {
	return p.witness.Flies && p.state != Closed && b.Room(now, &p.tab, budget.Flights) > 0
}

// machines finds whose records can be asked for because of a report about the player whose connection is p, or nil.
func (s *seats) machines(d *evidence.Desync, p *peer, can func(*peer) bool) {
	reported := make(map[lockstep.Player]bool) // only looked up
	for i, g := range d.Report.Groups {
		for _, player := range g.Players {
			reported[player] = true
			switch q := s.table[player].peer; {
			case q == nil || !can(q):
			case q == p:
				d.Asks = true
			case i > 0 || d.Report.Tie:
				d.Differ = append(d.Differ, &q.witness)
			case d.Agrees == nil || q.witness.Flown < d.Agrees.Flown:
				d.Agrees = &q.witness
			}
		}
	}
	for i := range s.table {
		q := s.table[i].peer
		d.Silent = d.Silent || !d.Report.Tie && q != nil && q != p && !reported[q.seat] && can(q)
	}
}

// flightOf returns the record of the referee's last ticks at the time of a report, or nil.
func flightOf(referee *lockstep.Follower, r *coordinator.DesyncReport) []byte {
	if referee != nil && r.Resimulation != coordinator.RefereeWrong && referee.Flight() != nil {
		return referee.Flight().Record().Append(nil)
	}
	return r.Flight // of the one that was wrong
}

// settle carries out what the collector of evidence wants.
func (h *Host) settle() {
	o := h.evidence.Take()
	for i := range o.Requests {
		if p := h.peers.find(PeerID(o.Requests[i].To)); p != nil {
			if o.Requests[i].Message.Kind == protocol.KindFlightRequest {
				h.budget.Take(h.now, &p.tab, budget.Flights, 1)
			}
			h.peers.send(p, o.Requests[i].Message)
		}
	}
	for _, id := range o.Removed {
		if p := h.peers.find(PeerID(id)); p != nil {
			h.Admin().kick(p, differs)
		}
	}
	h.out.made.Early = append(h.out.made.Early, o.Early...)
	h.out.made.Evidence = append(h.out.made.Evidence, o.Evidence...)
	for _, e := range o.States { // for joiners, unless another client has answered first
		k, ok := h.c.Check(e.Tick)
		if x := h.log.donors.Take(h.now, e.Tick, e.Player, e.Hash, k, ok, h.ring.First()); x != nil && h.log.keyframes.After(x.Position) {
			x.Header, x.Roster = h.log.header, h.seats.roster(h.log.talk, h.lobby, x.Position)
			h.log.keyframes.Take(h.now, x)
		}
	}
	h.wake.at(h.evidence.Next())
}

// react applies the policy to a peer whose checksum differs.
func (h *Host) react(p *peer, resynced *lockstep.Tick) {
	if p.state == Closed {
		return
	}
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
		h.peers.offend(h.now, p, protocol.ErrorReport, "not a recent checked tick")
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
	m := protocol.Message{Kind: protocol.KindDesyncReport, Tick: first, Player: lockstep.System, Agreed: p.witness.Agreed}
	if referee := h.c.Referee(); referee != nil {
		if own, ok := referee.Sum(t); ok {
			section, _ := checksum.Compare(*sum, *own, h.game.StateSchema())
			m.Field = section.Name
		}
	}
	h.out.event(Event{Kind: PeerDesynced, Tick: first, Peer: p.id, Player: lockstep.System, Text: m.Field})
	h.peers.send(p, m)
	if p.state == Syncing {
		return
	}
	var resynced lockstep.Tick // a spectator reports again after each keyframe
	h.react(p, &resynced)
}

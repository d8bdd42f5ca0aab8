package host

import (
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
)

// matchCrowd multiplies the limit of keyframes for all spectators and guests of a match together.
const matchCrowd = 32

// keyframeRate returns the rates, in bytes, of keyframes of some size: an account's own, and that of all shared
// accounts of the match together. A state of any size can be sent four times at once, and four times a minute.
func (h *Host) keyframeRate(a *account, size int) (own, match Rate) {
	r := h.options.Rates.Keyframes
	r.N = min(max(r.N, int(lockstep.Time(size)*r.Per/(15*lockstep.Second))), maxRate)
	r.Burst = min(max(r.Burst, 4*size), maxRate)
	if a.shared {
		return r.times(crowd), r.times(matchCrowd)
	}
	return r, r
}

// matchResimulations multiplies the limit of re-simulations for a match.
const matchResimulations = 2

// compareReport passes a player's checksum to the coordinator. It charges the ticks that the referee re-simulates for
// it to the player and to the match.
func (h *Host) compareReport(p *peer, t lockstep.Tick, sum *checksum.Sum) error {
	own, match := h.options.Rates.Resimulations, h.options.Rates.Resimulations.times(matchResimulations)
	budget := &p.account.used[resimulationBudget]
	h.c.AllowResimulation(min(budget.Room(h.now, own), h.resimulations.Room(h.now, match)))
	before := h.c.Resimulated()
	err := h.c.Report(p.seat, t, sum)
	if ticks := int(h.c.Resimulated() - before); ticks > 0 {
		budget.Take(h.now, own, ticks)
		h.resimulations.Take(h.now, match, ticks)
	}
	h.takeDesyncs()
	return err
}

// syncBudget returns how many bytes of a keyframe of some size a peer may be sent now.
func (h *Host) syncBudget(p *peer, size int) int {
	own, match := h.keyframeRate(p.account, size)
	room := p.account.used[keyframeBudget].Room(h.now, own)
	if p.account.shared {
		room = min(room, h.joins.sent.Room(h.now, match))
	}
	return room
}

// spend charges n bytes of a keyframe to a peer.
func (h *Host) spend(p *peer, n, size int) {
	own, match := h.keyframeRate(p.account, size)
	p.account.used[keyframeBudget].Take(h.now, own, n)
	if p.account.shared {
		h.joins.sent.Take(h.now, match, n)
	}
}

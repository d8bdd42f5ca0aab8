package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
)

// matchCrowd is how many times the limit of keyframes holds for all spectators and
// guests of a match together.
const matchCrowd = 32

// keyframeRate returns how many bytes of keyframes of some size an account may
// have, and how many all shared accounts of the match may have together. A state
// of any size can be sent four times at once, and four times in a minute.
func (h *Host) keyframeRate(a *account, size int) (own, match Rate) {
	r := h.options.Rates.Keyframes
	r.N = min(max(r.N, int(lockstep.Time(size)*r.Per/(15*lockstep.Second))), maxRate)
	r.Burst = min(max(r.Burst, 4*size), maxRate)
	if a.shared {
		return r.times(crowd), r.times(matchCrowd)
	}
	return r, r
}

// matchResimulations is how many times the limit of resimulations holds for a match.
const matchResimulations = 2

// resimulation takes ticks that are computed again because of a player's report from the
// budgets of the player and of the match.
func (h *Host) resimulation(p lockstep.Player, ticks int) bool {
	r := h.options.Rates.Resimulations
	owner := h.seats[p].peer
	if owner == nil || !owner.payer.used[resimulationBudget].take(h.now, r, ticks) {
		return false
	}
	return h.resimulations.take(h.now, r.times(matchResimulations), ticks)
}

// syncBudget returns how many bytes of a keyframe of some size a peer may have now.
func (h *Host) syncBudget(p *peer, size int) int {
	own, match := h.keyframeRate(p.payer, size)
	room := p.payer.used[keyframeBudget].room(h.now, own)
	if p.payer.shared {
		room = min(room, h.joins.sent.room(h.now, match))
	}
	return room
}

// spend counts n bytes of a keyframe that a peer has room for.
func (h *Host) spend(p *peer, n, size int) {
	own, match := h.keyframeRate(p.payer, size)
	p.payer.used[keyframeBudget].take(h.now, own, n)
	if p.payer.shared {
		h.joins.sent.take(h.now, match, n)
	}
}

package host

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/vote"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// vote handles a chat line that may be a vote to kick a player.
func (h *Host) vote(p *peer, line string) {
	whom, found := vote.Parse(line)
	if !found || !h.options.VoteKick || p.seat == lockstep.System || h.c.Err() != nil {
		return
	}
	seats := make([]vote.Seat, len(h.seats))
	for i := range h.seats {
		s := &h.seats[i]
		seats[i] = vote.Seat{Taken: s.want != vacant, Name: s.name, Account: s.account, Votes: s.want == here && s.bot == nil}
	}
	accused, ok := vote.Named(whom, seats)
	if !ok || h.seats[accused].bot != nil || seats[accused].Account == p.tab.Payer() {
		h.private(p, errorMessage(protocol.ErrorRole, "no other player has that seat number or unique name", ""))
		return
	}
	a := seats[accused].Account
	if !h.lobby.Awaits(accused, h.seats.lobby()[accused]) && !h.budget.SpentLately(h.now, a) {
		h.private(p, errorMessage(protocol.ErrorRole, "only a player who has used up its share of the match's time, or is awaited in a lobby, can be voted out", ""))
		return
	}
	agree, all, kicked := h.votes.Cast(h.now, p.seat, a, seats)
	h.log.announce(accused, record.EventVote, fmt.Sprintf("%d of %d want this player to be kicked", agree, all))
	if !kicked {
		return
	}
	if _, err := h.Bans().AddPlayer(h.now, accused, 0, "voted out"); err != nil && h.c.Err() == nil {
		_, _ = h.Admin().Remove(h.now, accused, "voted out") // there are too many bans
	}
}

package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/budget"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// voteLine is the beginning of a chat line that is a vote.
const voteLine = "/kick "

// fewestVotes is the least number of votes to kick a player, so that in a match of two neither can remove the other.
const fewestVotes = 2

// vote handles a chat line that may be a vote.
func (h *Host) vote(p *peer, line string) {
	whom, found := strings.CutPrefix(line, voteLine)
	if !found || !h.options.VoteKick || p.seat == lockstep.System || h.c.Err() != nil {
		return
	}
	accused, ok := h.named(strings.TrimSpace(whom))
	if !ok || h.isBot(accused) || h.seats[accused].account == p.tab.Payer() {
		h.error(p, protocol.ErrorRole, "no other player has that seat number or unique name", "")
		return
	}
	a := h.seats[accused].account
	if !(h.lobby.open && h.isAwaited(&h.seats[accused])) && !h.budget.SpentLately(h.now, a) {
		h.error(p, protocol.ErrorRole, "only a player who has used up its share of the match's time, or is awaited in a lobby, can be voted out", "")
		return
	}
	s := &h.seats[p.seat]
	s.vote, s.voted, s.votedAt = a, true, h.now
	votes, voters := h.votes(a)
	h.announce(accused, record.EventVote, fmt.Sprintf("%d of %d want this player to be kicked", votes, voters))
	if votes < fewestVotes || 2*votes <= voters {
		return
	}
	if _, err := h.BanPlayer(h.now, accused, 0, "voted out"); err != nil && h.c.Err() == nil {
		_, _ = h.Remove(h.now, accused, "voted out") // there are too many bans
	}
}

// named returns the player with a seat number, or with a name that is unique.
func (h *Host) named(whom string) (lockstep.Player, bool) {
	if n, err := strconv.ParseUint(whom, 10, 8); err == nil {
		return lockstep.Player(n), int(n) < len(h.seats) && h.seats[n].want != vacant
	}
	found, n := lockstep.Player(0), 0
	for i := range h.seats {
		if s := &h.seats[i]; s.want != vacant && s.name == whom && whom != "" {
			found, n = lockstep.Player(i), n+1
		}
	}
	return found, n == 1
}

// votes returns how many accounts vote to kick a player, and how many could.
func (h *Host) votes(accused budget.ID) (votes, voters int) {
	var may, did []budget.ID
	for i := range h.seats {
		s := &h.seats[i]
		if s.want != here || s.account == accused || h.isBot(lockstep.Player(i)) {
			continue
		}
		may = append(may, s.account)
		if s.voted && s.vote == accused && h.now-s.votedAt <= minute {
			did = append(did, s.account)
		}
	}
	return distinct(did), distinct(may)
}

// distinct returns how many accounts there are in a list, which it sorts.
func distinct(accounts []budget.ID) int {
	slices.Sort(accounts)
	return len(slices.Compact(accounts))
}

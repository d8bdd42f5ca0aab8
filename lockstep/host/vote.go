package host

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
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
	if !ok || h.isBot(accused) || h.accountOf(&h.seats[accused]) == p.account {
		h.error(p, protocol.ErrorRole, "no other player has that seat number or unique name", "")
		return
	}
	a := h.accountOf(&h.seats[accused])
	if !(h.lobby.open && h.isAwaited(&h.seats[accused])) && (a.pace.spentAt == 0 || h.now-a.pace.spentAt > minute) {
		h.error(p, protocol.ErrorRole, "only a player who has used up its share of the match's time, or is awaited in a lobby, can be voted out", "")
		return
	}
	s := &h.seats[p.seat]
	s.vote, s.votedAt = a, h.now
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
func (h *Host) votes(accused *account) (votes, voters int) {
	for i := range h.seats {
		s := &h.seats[i]
		if a := h.accountOf(s); s.want == here && a != accused && !h.isBot(lockstep.Player(i)) {
			a.pace.mayVote = true
			a.pace.votes = a.pace.votes || s.vote == accused && h.now-s.votedAt <= minute
		}
	}
	for i := range h.seats {
		a := &h.accountOf(&h.seats[i]).pace
		if a.mayVote {
			voters++
		}
		if a.votes {
			votes++
		}
		a.mayVote, a.votes = false, false
	}
	return votes, voters
}

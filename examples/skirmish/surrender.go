package skirmish

import "github.com/seed-49bee653/samestep/lockstep"

// Votes returns how many players of a team vote for its surrender, and how many are needed: more than half of those
// who take part. Absent and defeated players have no vote.
func (w *World) Votes(team uint8) (votes, needed int) {
	present := 0
	for p := range w.Players {
		if player := &w.Players[p]; player.Team == team && player.Status == Playing {
			present++
			if player.Resigns {
				votes++
			}
		}
	}
	return votes, present/2 + 1
}

func (w *World) checkSurrender(p uint8, c *Surrender) error {
	switch {
	case w.Match.Ended != 0:
		return ErrOver
	case w.Players[p].Resigns != c.Withdraw:
		return ErrAlready
	}
	return nil
}

// vote carries out a Surrender. The votes count at the end of the tick.
func (w *World) vote(p uint8, c *Surrender) {
	if w.checkSurrender(p, c) != nil {
		return
	}
	w.Players[p].Resigns = !c.Withdraw
	votes, needed := w.Votes(w.Players[p].Team)
	lockstep.Emit(w.workspace.turn, SurrenderVoted{Player: p, Withdrawn: c.Withdraw, Votes: uint8(votes), Needed: uint8(needed)})
}

// surrender defeats the teams that have voted for it. Votes count in every tick, because a majority may change when a
// player is lost.
func (w *World) surrender() {
	for p := range w.Players {
		if player := &w.Players[p]; player.Resigns && player.Status == Playing && w.Match.Ended == 0 {
			if votes, needed := w.Votes(player.Team); votes >= needed {
				w.giveUp(player.Team)
			}
		}
	}
}

func (w *World) giveUp(team uint8) {
	lockstep.Emit(w.workspace.turn, Surrendered{Team: team})
	for p := range w.Players {
		if w.Players[p].Team == team {
			w.defeat(uint8(p))
		}
	}
}

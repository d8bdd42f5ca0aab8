package skirmish

import "github.com/seed-49bee653/samestep/lockstep"

// endTicks is how long a match goes on that is won: its players see the last building fall.
const endTicks = 60

// decide detects defeat and victory. It ends the match a little later.
func (w *World) decide() {
	if w.Match.Ended != 0 {
		if w.Match.Tick == w.Match.Ended+endTicks {
			w.workspace.turn.End(&Result{w.Match.Winner})
		}
		return
	}
	for p := range w.Players {
		if w.Players[p].Buildings == 0 {
			w.defeat(uint8(p))
		}
	}
	var alive [MaxPlayers]bool // by team
	teams, last := 0, uint8(0)
	for p := range w.Players {
		if player := &w.Players[p]; player.Status != Defeated && player.Team < MaxPlayers && !alive[player.Team] {
			alive[player.Team] = true
			teams, last = teams+1, player.Team
		}
	}
	if teams == 1 && w.Config.Teams > 1 {
		w.Match.Ended, w.Match.Winner = w.Match.Tick, last+1
		lockstep.Emit(w.workspace.turn, MatchWon{Team: last})
	}
}

// Score returns 1 for a player of the team that has won, -1 for the others, and 0 before the end.
func Score(w *World, r *Result, p lockstep.Player) int {
	switch {
	case r == nil || int(p) >= len(w.Players):
		return 0
	case w.Players[p].Team+1 == r.Winner:
		return 1
	}
	return -1
}

// defeat marks a player as defeated.
func (w *World) defeat(p uint8) {
	if player := w.player(p); player.Status != Defeated {
		player.Status, player.Offers, player.Resigns = Defeated, 0, false
		lockstep.Emit(w.workspace.turn, PlayerDefeated{Player: p})
	}
}

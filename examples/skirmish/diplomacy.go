package skirmish

import (
	"cmp"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// settleTicks is the time between two changes of a player's team.
const settleTicks = 200

// diplomacy reports whether teams can change. One team of all has no enemy, so nobody leaves it.
func (w *World) diplomacy() bool { return w.Config.Diplomacy && w.Config.Teams > 1 }

// teams returns how many teams the match can have.
func (w *World) teams() int {
	if w.diplomacy() {
		return len(w.Players)
	}
	return int(w.Config.Teams)
}

// checkDiplomacy returns an error if the teams do not change any more.
func (w *World) checkDiplomacy() error {
	switch {
	case !w.diplomacy():
		return ErrFixed
	case w.Match.Ended != 0:
		return ErrOver
	}
	return nil
}

func (w *World) checkPropose(p uint8, c *Propose) error {
	if err := w.checkDiplomacy(); err != nil {
		return err
	}
	if int(c.To) >= min(len(w.Players), MaxPlayers) {
		return fmt.Errorf("%w: player %d of %d", ErrUnknown, c.To, len(w.Players))
	}
	switch to, offered := &w.Players[c.To], w.Offers(p, c.To); {
	case c.Withdraw && !offered:
		return fmt.Errorf("%w: an offer to player %d", ErrUnknown, c.To)
	case c.Withdraw:
		return nil
	case to.Status == Defeated:
		return fmt.Errorf("%w: player %d", ErrDefeated, c.To)
	case to.Team == w.Players[p].Team:
		return fmt.Errorf("%w: player %d", ErrFriend, c.To)
	case offered:
		return fmt.Errorf("%w: an offer to player %d", ErrAlready, c.To)
	}
	return w.checkEnemy(c.To, w.Players[p].Team)
}

func (w *World) checkAccept(p uint8, c *Accept) error {
	if err := w.checkDiplomacy(); err != nil {
		return err
	}
	if !w.Offers(c.From, p) {
		return fmt.Errorf("%w: an offer of player %d", ErrUnknown, c.From)
	}
	return cmp.Or(w.checkSettled(p), w.checkEnemy(p, w.Players[c.From].Team))
}

func (w *World) checkBreak(p uint8) error {
	if err := w.checkDiplomacy(); err != nil {
		return err
	}
	for q := range w.Players {
		if other := &w.Players[q]; q != int(p) && other.Team == w.Players[p].Team && other.Status != Defeated {
			return w.checkSettled(p)
		}
	}
	return ErrAlone
}

func (w *World) checkSettled(p uint8) error {
	if from := w.Players[p].Settled; w.Match.Tick < from {
		return fmt.Errorf("%w: tick %d, want %d or later", ErrTooSoon, w.Match.Tick, from)
	}
	return nil
}

// checkEnemy returns an error if no undefeated player would be of another team after a player joins a team.
func (w *World) checkEnemy(p, team uint8) error {
	for q := range w.Players {
		if other := &w.Players[q]; q != int(p) && other.Team != team && other.Status != Defeated {
			return nil
		}
	}
	return ErrNoEnemy
}

// Offers reports whether a player has invited another one to the team.
func (w *World) Offers(by, to uint8) bool {
	return int(by) < len(w.Players) && to < MaxPlayers && w.Players[by].Offers&(1<<to) != 0
}

// propose carries out a Propose.
func (w *World) propose(p uint8, c *Propose) {
	if w.checkPropose(p, c) != nil {
		return
	}
	w.Players[p].Offers ^= 1 << c.To
	lockstep.Emit(w.workspace.turn, Proposed{By: p, To: c.To, Withdrawn: c.Withdraw})
}

// accept carries out an Accept.
func (w *World) accept(p uint8, c *Accept) {
	if w.checkAccept(p, c) == nil {
		w.enlist(p, w.Players[c.From].Team)
		lockstep.Emit(w.workspace.turn, Allied{Player: p, With: c.From})
	}
}

// secede carries out a Break: the player gets a team without players.
func (w *World) secede(p uint8) {
	if w.checkBreak(p) != nil {
		return
	}
	var taken [MaxPlayers]bool
	for q := range w.Players {
		taken[w.Players[q].Team%MaxPlayers] = true
	}
	for team := range uint8(min(len(w.Fog), MaxPlayers)) {
		if !taken[team] {
			w.Fog[team].Explored.Clear() // of those who had this number before
			w.enlist(p, team)
			lockstep.Emit(w.workspace.turn, AllianceBroken{Player: p})
			return
		}
	}
}

// enlist moves a player with all units to a team, which learns what the old team has explored.
func (w *World) enlist(p, team uint8) {
	player := &w.Players[p]
	old := player.Team
	player.Team, player.Offers, player.Resigns, player.Settled = team, 0, false, w.Match.Tick+settleTicks
	for q := range w.Players {
		w.Players[q].Offers &^= 1 << p
	}
	for i := range w.Units {
		if u := &w.Units[i]; u.Owner == p {
			u.Team = team
		}
	}
	if int(old) < len(w.Fog) && int(team) < len(w.Fog) {
		w.Fog[team].Explored.Add(w.Fog[old].Explored)
		w.reveal(old)
		w.reveal(team)
	}
}

package replay

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// PlayerInfo counts what one player did.
type PlayerInfo struct {
	Player    lockstep.Player `json:"player"`
	Commands  int             `json:"commands"`
	Bytes     int             `json:"bytes"`                // of payloads
	TakenOver lockstep.Tick   `json:"taken_over,omitempty"` // ticks in which the seat was taken over
	Inactive  int             `json:"inactive,omitempty"`   // how often it gave no command for a long time, by the policy of the match
}

// absences follows which seats are taken over.
type absences struct {
	since [256]lockstep.Tick // by seat; 0 for one that is not taken over
	took  [256]bool          // by seat, whether somebody has had it, perhaps without a command
}

func (a *absences) add(rec *record.Record, players *[256]PlayerInfo) {
	if rec.Event == record.EventInactive && rec.Player < lockstep.MaxPlayers {
		players[rec.Player].Inactive++
	}
	for i := range rec.Frame.Commands {
		c := rec.Frame.Commands[i]
		if c.Player != lockstep.System {
			continue
		}
		value, _ := record.SystemValue(&c) // nothing for one of a later version
		switch v := value.(type) {
		case *lockstep.TakenOver:
			a.since[v.Player], a.took[v.Player] = rec.Tick, true
		case *lockstep.Joined:
			a.took[v.Player] = true
			a.back(v.Player, rec.Tick, players)
		case *lockstep.Lost:
			a.took[v.Player] = true
		case *lockstep.Left:
			a.took[v.Player] = true
			a.back(v.Player, rec.Tick, players)
		}
	}
}

// back ends the absence of a player before a tick.
func (a *absences) back(p lockstep.Player, t lockstep.Tick, players *[256]PlayerInfo) {
	if since := a.since[p]; since > 0 {
		players[p].TakenOver += t - since
		a.since[p] = 0
	}
}

// end ends all absences after the last tick.
func (a *absences) end(last lockstep.Tick, players *[256]PlayerInfo) {
	for p := range a.since {
		a.back(lockstep.Player(p), last+1, players)
	}
}

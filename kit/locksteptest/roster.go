package locksteptest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// A roster makes players leave and return, and the match pause and change its speed. It has its own random numbers, so
// it does not change the players' commands.
type roster struct {
	rng    *rand.Rand
	often  int // of 64 ticks
	away   []change
	paused bool
	pauser lockstep.Player
}

// A change is the state of a player's connection.
type change uint8

const (
	here change = iota
	lost
	left
)

func newRoster(o *Options) *roster {
	return &roster{rng: rand.New(rand.NewPCG(o.Seed, 0x205732)), often: max(o.Changes, 0), away: make([]change, o.Players)}
}

// next returns the command of System before the next tick, or nil.
func (r *roster) next() any {
	if r.paused {
		r.paused = false
		return &lockstep.Resumed{Player: r.pauser}
	}
	if r.rng.IntN(64) >= r.often {
		return nil
	}
	p := lockstep.Player(r.rng.IntN(len(r.away)))
	switch r.away[p] {
	case lost, left:
		r.away[p] = here
		return &lockstep.Joined{Player: p}
	}
	switch r.rng.IntN(5) {
	case 0:
		r.away[p] = left
		return &lockstep.Left{Player: p}
	case 1:
		r.away[p] = lost
		return &lockstep.Lost{Player: p}
	case 2:
		r.away[p] = lost
		return &lockstep.TakenOver{Player: p}
	case 3:
		r.paused, r.pauser = true, p
		return &lockstep.Paused{Player: p}
	}
	return &lockstep.SpeedSet{Percent: uint16(50 + 50*r.rng.IntN(4))}
}

var errSystem = errors.New("not a command of System that can be written down")

// issue makes a coordinator issue a command of System.
func issue(c *coordinator.Coordinator, value any) (err error) {
	switch v := value.(type) {
	case *lockstep.Joined:
		if c.Seated(v.Player) {
			_, err = c.Return(v.Player)
		} else {
			_, err = c.Join(v.Player)
		}
	case *lockstep.Left:
		_, err = c.Leave(v.Player)
	case *lockstep.Lost:
		_, err = c.Lose(v.Player)
	case *lockstep.TakenOver:
		_, err = c.TakeOver(v.Player)
	case *lockstep.Paused:
		_, err = c.Pause(v.Player)
	case *lockstep.Resumed:
		_, err = c.Resume(v.Player)
	case *lockstep.SpeedSet:
		_, err = c.SetSpeed(v.Percent)
	default:
		err = fmt.Errorf("%w: got %T, want Joined, Left, Lost, TakenOver, Paused, Resumed or SpeedSet", errSystem, value)
	}
	return err
}

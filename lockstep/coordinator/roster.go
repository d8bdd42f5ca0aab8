package coordinator

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Join seats p, which can command from the tick after the returned one on. The seat of a player that left can be taken
// again once the tick of the leave is sealed; before that Join fails with [ErrBusy]. Sequences continue across players
// of a seat.
func (c *Coordinator) Join(p lockstep.Player) (lockstep.Tick, error) {
	if c.err != nil {
		return 0, c.err
	}
	if int(p) >= len(c.seats) {
		return 0, fmt.Errorf("%w: player %d joins a match of %d", ErrSeat, p, c.header.Settings.Players)
	}
	if c.seats[p].present {
		return 0, fmt.Errorf("%w: player %d has joined already", ErrSeat, p)
	}
	if left := c.seats[p].left; left > c.sealed {
		return 0, fmt.Errorf("%w: player %d is leaving at tick %d", ErrBusy, p, left)
	}
	t, err := c.soon(&lockstep.Joined{Player: p})
	if err == nil {
		c.seats[p].present, c.seats[p].away, c.seats[p].joined = true, false, t
		c.checks.players[p] = standing{} // a new player has none
	}
	return t, err
}

// Leave gives up the seat of p. Waiting commands still run before p leaves.
func (c *Coordinator) Leave(p lockstep.Player) (lockstep.Tick, error) {
	if err := c.seated(p); err != nil {
		return 0, err
	}
	t, err := c.issue(max(c.sealed+1, c.seats[p].last), &lockstep.Left{Player: p})
	if err != nil {
		return 0, err
	}
	c.seats[p].present, c.seats[p].left = false, t
	return t, c.decideComplete() // no check waits for p any more
}

// Lose tells the simulation that the connection of p is gone.
func (c *Coordinator) Lose(p lockstep.Player) (lockstep.Tick, error) {
	return c.goes(p, &lockstep.Lost{Player: p})
}

// Return tells the simulation that p, which was lost or taken over, is back.
func (c *Coordinator) Return(p lockstep.Player) (lockstep.Tick, error) {
	t, err := c.about(p, &lockstep.Joined{Player: p})
	if err == nil {
		c.seats[p].away = false
	}
	return t, err
}

// TakeOver tells the simulation that a bot plays for p until p returns.
func (c *Coordinator) TakeOver(p lockstep.Player) (lockstep.Tick, error) {
	return c.goes(p, &lockstep.TakenOver{Player: p})
}

// goes issues a command that makes a player away.
func (c *Coordinator) goes(p lockstep.Player, value any) (lockstep.Tick, error) {
	t, err := c.about(p, value)
	if err != nil || c.seats[p].away {
		return t, err
	}
	c.seats[p].away = true
	return t, c.decideComplete() // no check waits for p any more
}

// Pause stops the match after the next tick, on behalf of p: Tick seals nothing more until Resume. A match that is
// paused, or will be after the next tick, cannot be paused again.
func (c *Coordinator) Pause(p lockstep.Player) (lockstep.Tick, error) {
	if err := c.seated(p); err != nil {
		return 0, err
	}
	if c.paused || c.pausing {
		return 0, ErrPaused
	}
	t, err := c.soon(&lockstep.Paused{Player: p})
	c.pausing = err == nil
	return t, err
}

// Resume continues a paused match, on behalf of p. Before the pausing tick is sealed, it cancels the pause. p may be
// System, which resumes a match without players: a paused match cannot be joined.
func (c *Coordinator) Resume(p lockstep.Player) (lockstep.Tick, error) {
	if c.err == nil && !c.paused && !c.pausing {
		return 0, ErrNotPaused
	}
	if p != lockstep.System {
		if err := c.seated(p); err != nil {
			return 0, err
		}
	}
	t, err := c.soon(&lockstep.Resumed{Player: p})
	if err == nil {
		c.paused, c.pausing = false, false
	}
	return t, err
}

// Paused reports whether the match is paused: the pausing tick is sealed, and no Resume has come.
func (c *Coordinator) Paused() bool { return c.paused }

// SetSpeed makes the match run at a percentage of its tick rate, 10 to 1000. The Coordinator only logs it: its caller
// keeps the time.
func (c *Coordinator) SetSpeed(percent uint16) (lockstep.Tick, error) {
	if err := record.CheckSpeed(percent); err != nil {
		return 0, err
	}
	return c.soon(&lockstep.SpeedSet{Percent: percent})
}

// SetInputDelay sets the input delay of commands submitted from now on, 1 to [record.MaxInputDelay] ticks.
func (c *Coordinator) SetInputDelay(ticks lockstep.Tick) (lockstep.Tick, error) {
	if err := record.CheckInputDelay(ticks); err != nil {
		return 0, err
	}
	t, err := c.soon(&lockstep.InputDelaySet{Ticks: uint16(ticks)})
	if err == nil {
		c.options.InputDelay = ticks
	}
	return t, err
}

// about issues a command of System about a seated player.
func (c *Coordinator) about(p lockstep.Player, value any) (lockstep.Tick, error) {
	if err := c.seated(p); err != nil {
		return 0, err
	}
	return c.soon(value)
}

// soon issues a command of System in the next tick, and returns that tick.
func (c *Coordinator) soon(value any) (lockstep.Tick, error) { return c.issue(c.sealed+1, value) }

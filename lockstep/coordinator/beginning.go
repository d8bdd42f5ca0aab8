package coordinator

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// differsFromOrigin are the fields of two headers in which a match and the one in whose state it begins may differ.
var differsFromOrigin = map[string]bool{"protocol": true, "match": true, "platform": true, "setting relay": true}

// CheckOrigin returns an error that names the first field in which the header of a new match differs from that of the
// match in whose state it shall begin. Only the match's id, its recorder and its referee may differ.
func CheckOrigin(h, origin *lockstep.Header) error {
	for _, d := range record.DiffHeaders(origin, h) {
		if !differsFromOrigin[d.Field] {
			return fmt.Errorf("lockstep: the match differs from the one in whose state it begins: %s: got %s, want %s", d.Field, d.B, d.A)
		}
	}
	return nil
}

// Begin returns the Coordinator of a new match with header h, which begins in the state after the last tick of the log.
// d has read the log. Everything that the simulation knows of the log stays true: the ticks and the sequences of players
// go on, and those who are in the match stay in it. The Coordinator writes the new log from its header on, and its next
// tick resumes a match that is paused and has the new input delay. See [Recovery.Check] and [CheckOrigin] for the errors.
func (r *Recovery) Begin(d *record.Decoder, h *lockstep.Header, log lockstep.Log, o Options) (*Coordinator, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	origin := r.follower.Simulation()
	if _, ended := origin.Ended(); ended || r.follower.Ended() {
		return nil, fmt.Errorf("lockstep: begin after tick %d: %w: want an earlier tick", origin.Tick(), ErrEnded)
	}
	if err := CheckOrigin(h, r.follower.Header()); err != nil {
		return nil, err
	}
	c, err := newCoordinator(r.game, h, log, o)
	if err != nil {
		return nil, err
	}
	sim, err := r.game.AwaitState(c.header)
	if err != nil {
		return nil, err
	}
	if err := sim.Restore(origin.Tick(), origin.AppendState(nil)); err != nil {
		return nil, err
	}
	if err := c.begin(sim, d.AppendLast(nil)); err != nil {
		return nil, err
	}
	c.system, c.paused = d.Last(lockstep.System), r.paused
	for i := range c.seats {
		last := d.Last(lockstep.Player(i))
		c.seats[i].present, c.seats[i].sealed, c.seats[i].high = r.seats[i].present, last, last
	}
	if c.paused {
		if _, err := c.Resume(lockstep.System); err != nil {
			return nil, err
		}
	}
	if r.delay > 0 && r.delay != c.options.InputDelay {
		if _, err := c.SetInputDelay(c.options.InputDelay); err != nil {
			return nil, err
		}
	}
	return c, nil
}

package coordinator

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Resimulation is the outcome of re-simulating a tick because a report contradicted the referee.
type Resimulation uint8

// The outcomes of a re-simulation.
const (
	NotResimulated Resimulation = iota // no earlier state is kept, there is no referee, or the limit was reached
	RefereeRight                       // re-simulation gave the same checksum
	RefereeWrong                       // re-simulation gave the reported checksum, or another one twice: the referee's memory was altered, or the rules have no fixed result
	NeitherRight                       // each re-simulation gave another checksum: the game is not deterministic even on this machine
)

var resimulationTexts = [...]string{"", "the referee has computed it again", "the referee has another result now, and takes it", "each computation of the referee has another result"}

func (r Resimulation) String() string { return resimulationTexts[r] }

// resimulate computes the ticks up to a check again before a player is accused. The player reported hash, and last
// agreed at tick from. Ticks that were re-simulated from there or earlier are not re-simulated again. With
// [RefereeWrong] it returns the right state of the check's tick.
//
// It begins at the tick where the player agreed. If the player is honest, the state there was right; if not, no other
// player is accused.
func (c *Coordinator) resimulate(k *check, from lockstep.Tick, hash uint64) (Resimulation, *lockstep.Simulation) {
	switch {
	case c.referee == nil || c.options.Frames == nil:
		return NotResimulated, nil
	case k.Tick <= c.resimulated && from >= c.resimulatedFrom:
		return RefereeRight, nil
	}
	begin := c.resimulated // continue there
	anew := from > c.resimulated || from < c.resimulatedFrom
	if anew {
		begin = from
	}
	m, frames := c.before(k, begin)
	if m == nil || len(frames) > c.mayResimulate {
		return NotResimulated, nil
	}
	c.mayResimulate -= len(frames)
	c.resimulations += uint64(len(frames))
	sim := c.again(m, frames)
	if sim == nil {
		return NotResimulated, nil
	}
	if anew {
		c.resimulatedFrom = from
	}
	c.resimulated = k.Tick
	if sim.Hash() == k.Hash {
		return RefereeRight, nil
	}
	if sim.Hash() != hash {
		if twice := c.again(m, frames); twice == nil || twice.Hash() != sim.Hash() {
			return NeitherRight, nil
		}
	}
	return RefereeWrong, sim
}

// before returns the first moment at or after tick from whose state is kept, and the frames from there to a check. It returns nil if
// there is no such moment with all its frames.
func (c *Coordinator) before(k *check, from lockstep.Tick) (*lockstep.Moment, []lockstep.Frame) {
	for {
		m := c.referee.MomentFrom(from)
		if m == nil || m.Tick >= k.Tick {
			return nil, nil
		}
		if m.State != nil {
			//samestep:allow unseen the frames of the log, which the caller keeps
			if frames := c.options.Frames.Frames(m.Tick, k.Tick); frames != nil {
				return m, frames
			}
		}
		from = m.Tick + 1
	}
}

// replaceReferee gives the referee another state of a past tick, and corrects everything that was computed from the old
// one.
func (c *Coordinator) replaceReferee(sim *lockstep.Simulation) error {
	//samestep:allow unseen the frames of the log, which the caller keeps
	frames := c.options.Frames.Frames(sim.Tick(), c.sealed)
	c.resimulated = c.sealed - c.sealed%lockstep.Tick(c.header.Settings.CheckEvery) // everything up to there is re-simulated here
	if err := c.Event(lockstep.System, record.EventReferee, fmt.Sprintf("wrong at tick %d, computed again up to tick %d", sim.Tick(), c.sealed)); err != nil {
		return err
	}
	for p := range c.checks.players { // later reports are compared again, in the order of ticks
		c.checks.players[p] = c.standingBefore(lockstep.Player(p), sim.Tick())
	}
	if err := c.correct(sim); err != nil {
		return err
	}
	for i := range frames {
		if err := sim.Step(&frames[i]); err != nil {
			return c.fail(err)
		}
		if err := c.correct(sim); err != nil {
			return err
		}
	}
	return c.referee.Simulation().CopyFrom(sim)
}

// correct replaces the state of sim's tick in the referee's history and in the check of the tick. Players that agreed
// with the old state now differ.
func (c *Coordinator) correct(sim *lockstep.Simulation) error {
	m := c.referee.Moment(sim.Tick())
	if m == nil {
		return nil
	}
	sim.Sum(&m.Sum)
	if m.State != nil {
		m.State = sim.AppendState(m.State[:0])
	}
	k := c.checkOf(sim.Tick())
	if k.Tick != sim.Tick() || k.Status != CheckAgreed {
		return nil
	}
	before := k.Hash
	k.Hash = m.Sum.Hash
	for p := range k.reports {
		switch r := &k.reports[p]; {
		case !r.given || k.Tick < c.seats[p].joined:
		case r.hash != before || k.Hash == before:
			c.checks.players[p].take(k.Tick, r.hash != k.Hash)
		default:
			if err := c.compare(k, lockstep.Player(p), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

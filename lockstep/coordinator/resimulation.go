package coordinator

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// TopicReferee is the topic of the note that System writes into the log where
// the referee has found its own state to be wrong: checksums and keyframes of
// the log up to there, and after the last check on which all agreed, may be
// wrong as well.
const TopicReferee = "referee"

// A Resimulation says what came of computing a tick again, because somebody reported
// another checksum of it than the referee has.
type Resimulation uint8

// The outcomes of a re-simulation.
const (
	NotResimulated Resimulation = iota // the state before it is not kept any more, there is no referee, or it was beyond the limit
	RefereeRight                       // the result is the same
	RefereeWrong                       // it is another one, which was reported or comes out twice: something else has changed the referee's memory
	NeitherRight                       // it is another one each time: the game is not deterministic, not even here
)

var resimulationTexts = [...]string{"", "the referee has computed it again", "the referee was wrong", "each computation of the referee has another result"}

func (r Resimulation) String() string { return resimulationTexts[r] }

// resimulate computes the ticks up to a check again, before a player is accused. The player
// reported hash, and agreed last at tick from. Ticks that were computed again once, from there
// or from before, are not computed another time. With [RefereeWrong] it returns the right
// state of the check's tick.
//
// It begins at the tick where the player agreed: if the player is honest, the state there was
// right, and if not, no other player is accused.
func (c *Coordinator) resimulate(k *check, from lockstep.Tick, hash uint64) (Resimulation, *lockstep.Simulation) {
	switch {
	case c.referee == nil || c.options.Frames == nil:
		return NotResimulated, nil
	case k.Tick <= c.resimulated && from >= c.resimulatedFrom:
		return RefereeRight, nil
	}
	begin := c.resimulated // to go on
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

// before returns the first moment that is kept, not before a tick, and the frames
// from there to a check; nil if there is none from which all frames are kept.
func (c *Coordinator) before(k *check, from lockstep.Tick) (*lockstep.Moment, []lockstep.Frame) {
	for {
		m := c.referee.MomentFrom(from)
		if m == nil || m.Tick >= k.Tick || m.State == nil {
			return nil, nil
		}
		//samestep:allow unseen the frames of the log, which the caller keeps
		if frames := c.options.Frames.Frames(m.Tick, k.Tick); frames != nil {
			return m, frames
		}
		from = m.Tick + 1
	}
}

// again computes frames again from a state that was kept. It returns nil if that
// has changed, too, or the game does not survive it.
func (c *Coordinator) again(m *lockstep.Moment, frames []lockstep.Frame) *lockstep.Simulation {
	sim, err := c.game.AwaitState(c.header)
	if err != nil || sim.Restore(m.Tick, m.State) != nil || sim.Hash() != m.Sum.Hash {
		return nil
	}
	for i := range frames {
		if sim.Step(&frames[i]) != nil {
			return nil
		}
	}
	return sim
}

// replaceReferee gives the referee another state, from a past tick on, and
// corrects what was computed from the one before.
func (c *Coordinator) replaceReferee(sim *lockstep.Simulation) error {
	//samestep:allow unseen the frames of the log, which the caller keeps
	frames := c.options.Frames.Frames(sim.Tick(), c.sealed)
	c.resimulated = c.sealed - c.sealed%lockstep.Tick(c.header.Settings.CheckEvery) // as all up to there is computed again here
	if err := c.Note(lockstep.System, TopicReferee, fmt.Sprintf("wrong at tick %d, computed again up to tick %d", sim.Tick(), c.sealed)); err != nil {
		return err
	}
	for p := range c.checks.players { // what followed is compared again, in the order of ticks
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

// correct makes the state of sim that of its tick in the referee's history, and
// in the check of the tick. Players that agreed with the old state are wrong now.
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

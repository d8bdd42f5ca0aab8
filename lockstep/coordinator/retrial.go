package coordinator

import (
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
)

// TopicReferee is the topic of the note that System writes into the log where
// the referee has found its own state to be wrong: checksums and keyframes of
// the log up to there, and after the last check on which all agreed, may be
// wrong as well.
const TopicReferee = "referee"

// A Retrial says what came of computing a tick again, because somebody reported
// another checksum of it than the referee has.
type Retrial uint8

// The outcomes of a retrial.
const (
	NotRetried   Retrial = iota // the state before it is not kept any more, there is no referee, or it was beyond the limit
	RefereeRight                // the result is the same
	RefereeWrong                // it is another one, which was reported or comes out twice: something else has changed the referee's memory
	NeitherRight                // it is another one each time: the game is not deterministic, not even here
)

var retrialTexts = [...]string{"", "the referee has computed it again", "the referee was wrong", "each computation of the referee has another result"}

func (r Retrial) String() string { return retrialTexts[r] }

// retry computes the ticks up to a check again, before a player is accused. Player p
// reported root, and agreed last at tick from. A stretch that was computed again once,
// from there or from before, is believed. With [RefereeWrong] it returns the right
// state of the check's tick.
//
// It begins at the tick where p agreed: if p is honest, the state there was right, and
// if not, no other player is accused.
func (c *Coordinator) retry(k *check, p lockstep.Player, from lockstep.Tick, root uint64) (Retrial, *lockstep.Simulation) {
	switch {
	case c.referee == nil || c.options.Frames == nil:
		return NotRetried, nil
	case k.Tick <= c.retried && from >= c.retriedFrom:
		return RefereeRight, nil
	}
	begin := c.retried // to go on
	anew := from > c.retried || from < c.retriedFrom
	if anew {
		begin = from
	}
	m, frames := c.before(k, begin)
	//samestep:allow unseen says what may be computed again, and never reaches a simulation
	if m == nil || c.options.Retrial != nil && !c.options.Retrial(p, len(frames)) {
		return NotRetried, nil
	}
	c.retrials += uint64(len(frames))
	sim := c.again(m, frames)
	if sim == nil {
		return NotRetried, nil
	}
	if anew {
		c.retriedFrom = from
	}
	c.retried = k.Tick
	if sim.Root() == k.Root {
		return RefereeRight, nil
	}
	if sim.Root() != root {
		if twice := c.again(m, frames); twice == nil || twice.Root() != sim.Root() {
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
		if frames := c.options.Frames(m.Tick, k.Tick); frames != nil {
			return m, frames
		}
		from = m.Tick + 1
	}
}

// again computes frames again from a state that was kept. It returns nil if that
// has changed, too, or the game does not survive it.
func (c *Coordinator) again(m *lockstep.Moment, frames []lockstep.Frame) *lockstep.Simulation {
	sim, err := c.game.AwaitState(c.header)
	if err != nil || sim.Restore(m.Tick, m.State) != nil || sim.Root() != m.Sum.Root {
		return nil
	}
	for i := range frames {
		if sim.Step(&frames[i]) != nil {
			return nil
		}
	}
	return sim
}

// contradict is told that a player has another checksum of a check, root, and
// agreed at a tick before. A referee that is wrong takes its own back; then k has
// the right one, which has been computed again.
func (c *Coordinator) contradict(k *check, p lockstep.Player, agreed lockstep.Tick, root uint64, sum *checksum.Sum) (Retrial, error) {
	retrial, right := c.retry(k, p, agreed, root)
	if retrial != RefereeWrong {
		return retrial, nil
	}
	c.announce(k, p, agreed, sum, retrial)
	return RefereeRight, c.replaceReferee(right)
}

// replaceReferee gives the referee another state, from a past tick on, and
// corrects what was computed from the one before.
func (c *Coordinator) replaceReferee(sim *lockstep.Simulation) error {
	//samestep:allow unseen the frames of the log, which the caller keeps
	frames := c.options.Frames(sim.Tick(), c.sealed)
	c.retried = c.sealed - c.sealed%lockstep.Tick(c.header.Settings.CheckEvery) // as all up to there is computed again here
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
	before := k.Root
	k.Root = m.Sum.Root
	for p := range k.reports {
		switch r := &k.reports[p]; {
		case !r.given || k.Tick < c.seats[p].joined:
		case r.root != before || k.Root == before:
			c.checks.players[p].take(k.Tick, r.root != k.Root)
		default:
			if err := c.compare(k, lockstep.Player(p), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

package player

import (
	"cmp"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A prediction is the confirmed state plus the player's own commands that are not in it yet, some ticks ahead, and further ahead
// while frames are late. It is never sent.
//
// It begins again from the confirmed state whenever a frame differs from the predicted one. Otherwise it advances by a
// tick.
type prediction struct {
	sim      *lockstep.Simulation
	previous *lockstep.Simulation // one tick before
	valid    bool
	fault    fault         // what has refuted sim, which is then computed again in the next call
	judged   bool          // whether this is a correction is known already
	stands   bool          // sim did not advance in the last call, so the view stands still: previous is equal to it
	failed   bool          // the rules failed in ticks after base: nothing is predicted until another tick is due
	base     lockstep.Tick // the tick that was due in the last call: the confirmed one, or a late one
	lead     lockstep.Tick // how many ticks ahead of that
	shrunk   lockstep.Time // when lead shrank last
	most     lockstep.Tick // ahead of the confirmed state
	frame    lockstep.Frame
	arrival  lockstep.Time // corrects the estimated time at which the server gets own commands; learned from receipts
}

// shrinkTime is the least time between two ticks by which the prediction runs less far ahead.
const shrinkTime = lockstep.Second

// A fault is what was wrong with a prediction; the greater one counts.
type fault uint8

const (
	noFault    fault = iota
	surprise         // nobody can predict that: another player's command in a frame that came in time, or an own one that was refused
	correction       // a frame was late, or an own command ran in another tick
)

func (p *prediction) ready() bool { return p.sim != nil && p.valid }

// assume chooses the tick in which the prediction runs the newest command: the next one or that after it, whichever the server
// will run it in; the next one if that is neither, so that the command shows at once.
func (c *Client) assume() {
	p, list := &c.predict, c.own.list
	if !p.ready() || p.lead == 0 {
		return
	}
	s := &list[len(list)-1]
	s.assumed = p.sim.Tick() + 1
	if c.link == linkUp && c.runs() && !c.pace.noBase && !c.pace.waiting {
		s.expected = p.base + c.commandDelay(c.pace.fraction())
	}
	if s.expected == s.assumed+1 {
		s.assumed++
	}
	if len(list) > 1 {
		s.assumed = max(s.assumed, list[len(list)-2].assumed)
	}
}

// commandDelay returns after how many ticks the server runs a command submitted now, when a part of the tick after the one that is
// due has passed.
func (c *Client) commandDelay(passed Fraction) lockstep.Tick {
	tick := c.pace.duration(1, c.pace.playing)
	if tick == 0 {
		return c.inputDelay
	}
	ahead := c.pace.behind(c.pace.passed, int64(c.level())) + c.measure.roundTrip + c.predict.arrival + Lerp(0, tick, passed)
	return c.inputDelay + lockstep.Tick(max(0, ahead)/tick)
}

// confirm compares a frame that was run with what was predicted of it. Own commands that it lacks are predicted for the
// tick after.
func (p *prediction) confirm(f *lockstep.Frame, seat lockstep.Player, own *outstanding) {
	for i := range f.Commands {
		cmd := &f.Commands[i]
		k := -1
		if cmd.Player == seat {
			k = own.find(cmd.Sequence)
		}
		switch {
		case k < 0 && f.Tick > p.base:
			p.fault = max(p.fault, surprise)
		case k < 0 || own.list[k].assumed != f.Tick:
			p.fault = correction
		}
		if k >= 0 {
			own.list[k].run, own.list[k].assumed = true, 0
		}
	}
	for i := range own.list {
		if s := &own.list[i]; s.assumed != 0 && s.assumed <= f.Tick {
			s.assumed, p.fault = f.Tick+1, correction
		}
	}
}

// answered takes the tick of the accepted command at place i, and learns from it how late commands arrive. tick is the time of one.
func (p *prediction) answered(own *outstanding, i int, tick lockstep.Time) {
	s := &own.list[i]
	if s.expected > 0 {
		late := lockstep.Time(cmp.Compare(s.tick, s.expected)) * tick / 32
		p.arrival = max(-2*tick, min(p.arrival+late, 2*tick))
	}
	shown := func(t lockstep.Tick) bool { return t != 0 && p.ready() && t <= p.sim.Tick() }
	if s.run || s.assumed == s.tick || shown(s.assumed) && !shown(s.tick) {
		return // what is shown does not vanish
	}
	if shown(s.tick) {
		p.fault = correction
	}
	s.assumed = s.tick
	for k := i + 1; k < len(own.list); k++ {
		if later := &own.list[k]; later.assumed > 0 {
			later.assumed = max(later.assumed, s.tick) // they keep their order
		}
	}
}

// refutes reports whether s is another state than what was shown as that of the same tick, because of the connection.
func (p *prediction) refutes(s *lockstep.Simulation) bool {
	if !p.ready() || p.fault != correction || p.judged || p.sim.Tick() != s.Tick() {
		return false
	}
	p.judged = true
	return p.sim.Hash() != s.Hash()
}

// predictTicks brings the prediction up to what is due.
func (c *Client) predictTicks() {
	p := &c.predict
	c.aim()
	ahead := p.lead + lockstep.Tick(c.pace.owed)
	if ahead == 0 || c.catchingUp || c.run.follower == nil {
		if p.valid && p.fault != noFault {
			c.smooth.rollbacks++
		}
		p.valid, p.stands = false, false
		p.failed = p.failed && c.Tick() == p.base
		return
	}
	confirmed := c.run.follower.Simulation()
	if p.sim != nil && p.sim.Header() != confirmed.Header() {
		p.sim, p.valid = nil, false
	}
	due := confirmed.Tick() + lockstep.Tick(c.pace.owed)
	if p.failed && due == p.base {
		return // until something is different
	}
	goal := due + p.lead
	if p.ready() {
		goal = max(goal, p.sim.Tick()) // it never goes back
	}
	p.stands = (p.stands || due != p.base) && p.ready() && p.sim.Tick() == goal
	err := c.redo(confirmed, goal)
	for err == nil && p.sim.Tick() < goal {
		err = c.foresee(goal)
	}
	if err == nil && p.stands {
		err = p.previous.CopyFrom(p.sim)
	}
	p.base = due
	if p.valid, p.failed = err == nil, err != nil; p.failed { // on our own commands: the server will refuse them
		p.base = confirmed.Tick() // nothing is owed until there is another one
	}
}

// redo begins again from the confirmed state if that is needed, and goes on to the tick that was shown.
func (c *Client) redo(confirmed *lockstep.Simulation, goal lockstep.Tick) (err error) {
	p := &c.predict
	if p.sim == nil {
		if p.sim, err = c.game.AwaitState(confirmed.Header()); err == nil {
			p.previous, err = c.game.AwaitState(confirmed.Header())
		}
		if err != nil {
			return err
		}
	}
	if p.valid && p.fault == noFault {
		return nil
	}
	if p.valid {
		c.smooth.rollbacks++
	}
	for i := range c.own.list {
		if s := &c.own.list[i]; s.assumed == 0 && !s.run && p.lead > 0 {
			s.assumed = confirmed.Tick() + 1 // submitted while nothing was predicted
		}
	}
	shown, hash := lockstep.Tick(0), uint64(0)
	if p.valid && p.fault == correction && !p.judged && p.sim.Tick() > confirmed.Tick() {
		shown, hash = p.sim.Tick(), p.sim.Hash()
	}
	p.fault, p.judged = noFault, false
	err = p.sim.CopyFrom(confirmed)
	for err == nil && p.sim.Tick() < shown {
		err = c.foresee(goal)
	}
	if err == nil && shown > 0 && p.sim.Tick() == shown && p.sim.Hash() != hash {
		c.smooth.corrections++
	}
	return err
}

// foresee runs the next tick as far as the client knows it. The state before the goal is kept.
func (c *Client) foresee(goal lockstep.Tick) error {
	p := &c.predict
	next := p.sim.Tick() + 1
	if next == goal {
		if err := p.previous.CopyFrom(p.sim); err != nil {
			return err
		}
	}
	return p.sim.Step(p.frameOf(next, c.seat, &c.own))
}

// frameOf returns the frame of tick t as far as the client knows it: its own commands.
func (p *prediction) frameOf(t lockstep.Tick, seat lockstep.Player, own *outstanding) *lockstep.Frame {
	p.frame.Tick, p.frame.Commands = t, p.frame.Commands[:0]
	for i := range own.list {
		if s := &own.list[i]; s.assumed == t {
			p.frame.Commands = append(p.frame.Commands, lockstep.Command{Tick: t, Player: seat, Sequence: s.Sequence, Kind: s.Kind, Payload: s.Payload})
		}
	}
	return &p.frame
}

// aim chooses how far ahead the prediction runs: so that a command submitted now takes effect in its next tick. It
// shrinks only if that is more than half a tick too far, to avoid oscillation, and by a tick at a time, because the view then stands
// still for one.
func (c *Client) aim() {
	p := &c.predict
	most := min(c.options.Predict, p.most)
	if most == 0 || c.role == protocol.Spectator {
		p.lead = 0
		return
	}
	if p.lead = min(p.lead, most); c.pace.owed > 0 && p.lead > 0 {
		return // ticks are late: nobody knows how far ahead it should be
	}
	ahead := func(passed Fraction) lockstep.Tick { return min(max(2, c.commandDelay(passed))-1, most) }
	if least := ahead(0); least > p.lead {
		p.lead = least
	} else if ahead(One/2) < p.lead && c.clock >= p.shrunk+shrinkTime {
		p.lead--
		p.shrunk = c.clock
	}
}

// mostOwed returns over how many ticks that are late the prediction goes on.
func (c *Client) mostOwed() int64 {
	p := &c.predict
	switch {
	case c.options.PredictLate == 0 || c.options.Pacing.AsTheyCome || c.catchingUp || c.run.follower == nil || p.failed || c.level() > 0:
		return 0
	case !c.runs() || c.pace.noBase || c.pace.waiting:
		return c.pace.owed // nobody knows when the next tick is due
	}
	return int64(min(c.options.PredictLate, p.most-min(p.most, p.lead)))
}

// SetPredict changes how many ticks the client predicts at most, those that are late included; see [Options]. An owner that
// finds that its machine needs too long for them asks for fewer: then the player's own commands show later.
func (c *Client) SetPredict(ticks lockstep.Tick) { c.predict.most = ticks }

// MostPredicted returns how many ticks the client predicts at most, see SetPredict.
func (c *Client) MostPredicted() lockstep.Tick { return c.predict.most }

// Predicted returns the predicted state, for reading, or nil if there is none. It is valid until the next call of the
// client.
func (c *Client) Predicted() *lockstep.Simulation {
	if !c.predict.ready() {
		return nil
	}
	return c.predict.sim
}

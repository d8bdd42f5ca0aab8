package player

import (
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
	stale    bool          // a frame has refuted sim, which is computed again in the next call
	judged   bool          // whether this is a correction is known already
	stands   bool          // sim did not advance in the last call, so the view stands still: previous is equal to it
	failed   bool          // the rules failed in ticks after base: nothing is predicted until another tick is due
	base     lockstep.Tick // the tick that was due in the last call: the confirmed one, or a late one
	lead     lockstep.Tick // how many ticks ahead of that
	most     lockstep.Tick // ahead of the confirmed state
	frame    lockstep.Frame
}

func (p *prediction) ready() bool { return p.sim != nil && p.valid }

// assume returns the tick in which the prediction runs a command submitted now.
func (p *prediction) assume(own *outstanding) lockstep.Tick {
	if !p.ready() || p.lead == 0 {
		return 0
	}
	t := p.sim.Tick() + 1
	if n := len(own.list); n > 0 {
		t = max(t, own.list[n-1].assumed)
	}
	return t
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
		if k < 0 || own.list[k].assumed != f.Tick {
			p.stale = true
		}
		if k >= 0 {
			own.list[k].run, own.list[k].assumed = true, 0
		}
	}
	for i := range own.list {
		if s := &own.list[i]; s.assumed != 0 && s.assumed <= f.Tick {
			s.assumed, p.stale = f.Tick+1, true
		}
	}
}

// answered takes the tick of an accepted command. A prediction that shows no command before its time runs it there.
func (p *prediction) answered(s *submitted, early bool) {
	if !early && !s.run {
		s.assumed = s.tick
		p.stale = p.stale || p.ready() && s.tick <= p.sim.Tick()
	}
}

// refutes reports whether s is another state than what was shown as that of the same tick.
func (p *prediction) refutes(s *lockstep.Simulation) bool {
	if !p.ready() || !p.stale || p.judged || p.sim.Tick() != s.Tick() {
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
	if p.valid && !p.stale {
		return nil
	}
	for i := range c.own.list {
		if s := &c.own.list[i]; s.assumed == 0 && !s.run && p.lead > 0 {
			s.assumed = confirmed.Tick() + 1 // submitted while nothing was predicted
		}
	}
	shown, hash := lockstep.Tick(0), uint64(0)
	if p.valid && !p.judged && p.sim.Tick() > confirmed.Tick() {
		shown, hash = p.sim.Tick(), p.sim.Hash()
	}
	p.stale, p.judged = false, false
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
			p.frame.Commands = append(p.frame.Commands, lockstep.Command{Tick: t, Player: seat, Sequence: s.sequence, Kind: s.kind, Payload: s.payload})
		}
	}
	return &p.frame
}

// aim chooses how far ahead the prediction runs: the number of ticks until a command submitted now takes effect. It
// shrinks only if that is more than a tick too far, to avoid oscillation.
func (c *Client) aim() {
	p := &c.predict
	most := min(c.options.Predict, p.most)
	if most == 0 || c.role == protocol.Spectator {
		p.lead = 0
		return
	}
	want := c.inputDelay + 1
	if tick := c.pace.duration(1, c.pace.playing); tick > 0 {
		want += lockstep.Tick((c.pace.delay() + c.measure.roundTrip + tick - 1) / tick)
	}
	want = max(1, min(want, most))
	if want > p.lead || want+1 < p.lead || p.lead > most {
		p.lead = want
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

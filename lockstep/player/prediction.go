package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A prediction is the confirmed state plus the player's own commands that are not in it yet, some ticks ahead. It is
// never hashed and never sent.
//
// It begins again from the confirmed state whenever a frame differs from the predicted one. Otherwise it advances by a
// tick.
type prediction struct {
	sim      *lockstep.Simulation
	previous *lockstep.Simulation // one tick before
	valid    bool
	stale    bool          // sim is not what it would be now
	failed   bool          // at base
	base     lockstep.Tick // of the confirmed state that it was brought up to
	lead     lockstep.Tick // how many ticks ahead of the confirmed state
	frame    lockstep.Frame
}

func (p *prediction) ready() bool { return p.sim != nil && p.valid }

// assume returns the tick in which the prediction runs a command submitted now.
func (p *prediction) assume(own *outstanding) lockstep.Tick {
	if !p.ready() {
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

// predictTicks brings the prediction up to the confirmed state.
func (c *Client) predictTicks() {
	p := &c.predict
	if c.options.Predict == 0 || c.role == protocol.Spectator || c.catchingUp || c.run.follower == nil {
		p.valid = false
		return
	}
	confirmed := c.run.follower.Simulation()
	if p.failed && confirmed.Tick() == p.base {
		return // until something is different
	}
	c.aim()
	if p.sim == nil || !p.valid {
		p.stale = true
	}
	goal := confirmed.Tick() + p.lead
	err := c.redo(confirmed)
	if err == nil && p.sim.Tick() >= goal && confirmed.Tick() != p.base {
		err = p.previous.CopyFrom(p.sim) // it stands still for a tick
	}
	p.base = confirmed.Tick()
	for err == nil && p.sim.Tick() < goal {
		if p.sim.Tick()+1 == goal {
			err = p.previous.CopyFrom(p.sim)
		}
		if err == nil {
			err = p.sim.Step(p.frameOf(p.sim.Tick()+1, c.seat, &c.own))
		}
	}
	p.valid, p.failed = err == nil, err != nil // the game fails on our own commands; the server will refuse them
}

// redo begins again from the confirmed state if that is needed.
func (c *Client) redo(confirmed *lockstep.Simulation) (err error) {
	p := &c.predict
	if p.sim == nil || p.sim.Header() != confirmed.Header() {
		if p.sim, err = c.game.AwaitState(confirmed.Header()); err == nil {
			p.previous, err = c.game.AwaitState(confirmed.Header())
		}
		if err != nil {
			return err
		}
		p.stale = true
	}
	if !p.stale {
		return nil
	}
	p.stale = false
	for i := range c.own.list {
		if s := &c.own.list[i]; s.assumed == 0 && !s.run {
			s.assumed = confirmed.Tick() + 1 // submitted while nothing was predicted
		}
	}
	return p.sim.CopyFrom(confirmed)
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
	want := c.inputDelay + 1
	if tick := c.pace.duration(1, c.pace.playing); tick > 0 {
		want += lockstep.Tick((c.pace.delay() + c.measure.roundTrip + tick - 1) / tick)
	}
	want = max(1, min(want, c.options.Predict))
	if want > p.lead || want+1 < p.lead || p.lead > c.options.Predict {
		p.lead = want
	}
}

// SetPredict changes how many ticks the client predicts at most; see [Options]. An owner that finds that its machine needs too
// long for them asks for fewer: then the player's own commands show later.
func (c *Client) SetPredict(ticks lockstep.Tick) { c.options.Predict = ticks }

// Predicted returns the predicted state, for reading, or nil if there is none. It is valid until the next call of the
// client.
func (c *Client) Predicted() *lockstep.Simulation {
	if !c.predict.ready() {
		return nil
	}
	return c.predict.sim
}

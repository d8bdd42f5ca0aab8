package player

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A runner runs the records that have arrived.
type runner struct {
	follower *lockstep.Follower
	dec      record.Decoder
	backlog  backlog
	ticks    *record.Record // the present frame or run of empty ticks, or nil
	previous *lockstep.Simulation
	tape     tape   // the commands of the ticks that the follower's kept states reach
	hashes   hashes // or nil
	full     bool   // records wait because too many events do

	agreed    int // checksums of the stream that are ours
	differing int
	counted   lockstep.Tick        // of the last checksum that is in agreed
	diverged  bool                 // at the last one, or the server says so
	parted    lockstep.Tick        // the check that was the first to differ
	wrong     *lockstep.Simulation // the state that differed, until it is compared
}

// begin goes on from the state of f, where a decoder stands in the stream.
func (r *runner) begin(f *lockstep.Follower, at *record.Decoder) {
	r.follower, r.dec = f, at.Clone()
	r.previous = nil
	r.tape.begin(f.Tick())
	r.discard()
}

// every returns the number of ticks between two checked ones.
func (r *runner) every() lockstep.Tick { return lockstep.Tick(r.follower.Header().Settings.CheckEvery) }

// discard forgets the records that have arrived.
func (r *runner) discard() {
	r.full = false
	r.backlog.clear()
	r.ticks = nil
}

// Tick returns the tick of the confirmed state, or of the last view.
func (c *Client) Tick() lockstep.Tick {
	if c.look != nil {
		return c.look.current.tick
	}
	if c.run.follower == nil {
		return 0
	}
	return c.run.follower.Tick()
}

// level returns how many ticks have arrived and not been run.
func (c *Client) level() lockstep.Tick {
	if c.run.follower == nil || c.run.backlog.len() == 0 && c.run.frame() == nil {
		return 0
	}
	return c.run.dec.Tick() - c.Tick() + c.waitingTicks()
}

// waitingTicks returns how many ticks the backlog has. A broken or dropped stream gets no more.
func (c *Client) waitingTicks() lockstep.Tick {
	if c.in.dec.Tick() < c.run.dec.Tick() {
		return 0
	}
	return c.in.dec.Tick() - c.run.dec.Tick()
}

// play runs the ticks that are due.
func (c *Client) play() {
	if c.run.follower == nil || c.fatal != nil {
		return
	}
	level := int64(c.level())
	due := min(level, int64(c.options.Pacing.Budget))
	if c.lateTicks() {
		c.catchingUp = true
	}
	elapsed := min(c.clock-c.pace.passed, maxStep)
	if c.catchingUp {
		c.pace.passed = c.clock
	} else {
		due = min(c.pace.pass(c.clock, level), due)
	}
	before := c.Tick()
	err := c.runTicks(due)
	still := c.pace.ran(int64(c.Tick()-before), c.mostOwed())
	if err != nil {
		c.fail(err)
		return
	}
	c.report()
	c.predictTicks()
	c.watch(elapsed, still, c.Tick()-before)
}

// lateTicks reports whether the client is so late that it runs all ticks that it has at once.
func (c *Client) lateTicks() bool {
	return !c.options.Pacing.AsTheyCome && c.pace.duration(int64(c.level()), c.pace.playing) > c.options.Pacing.FarBehind
}

// runs reports whether ticks are sealed, as far as the client knows.
func (c *Client) runs() bool {
	held := c.held.Reason != "" && c.held.Reason != protocol.HeldSlower
	return !held && !c.in.paused && !c.over && c.fatal == nil
}

// watch counts the time that has passed since the call before, in which a number of ticks ran. The view could not move for a
// part of it, because the next tick was not here.
func (c *Client) watch(elapsed, still lockstep.Time, ran lockstep.Tick) {
	switch {
	case c.options.Pacing.AsTheyCome:
		return
	case !c.runs():
		c.smooth.stood = 0
		return
	case c.catchingUp && ran == 0 || !c.catchingUp && c.predict.Stands():
		still = elapsed
	}
	c.smooth.pass(elapsed, still)
}

// report makes the events of catching up.
func (c *Client) report() {
	if !c.catchingUp || c.in.from() == 0 || c.link != linkUp {
		return
	}
	t := c.Tick()
	ahead := lockstep.Tick(1)
	if tick := c.pace.duration(1, c.pace.playing); tick > 0 {
		ahead += lockstep.Tick(c.pace.delay() / tick)
	}
	if t >= c.serverTick || c.serverTick-t <= ahead {
		c.catchingUp, c.in.asks = false, 0
		c.tell(Synced{t})
	} else if t > c.progressed {
		c.progressed = t
		c.tell(SyncProgress{Tick: t, Target: c.serverTick})
	}
}

// runTicks runs the next n ticks, and the records that stand before, between and right after them.
func (c *Client) runTicks(n int64) error {
	r := &c.run
	for {
		for frame := r.frame(); frame != nil; frame = r.frame() {
			if n == 0 {
				return nil
			}
			n--
			if err := c.step(frame, n == 0); err != nil {
				return err
			}
		}
		b := r.backlog.bytes()
		if r.full = len(b) > 0 && len(c.events) >= maxEvents; r.full {
			return nil
		}
		if len(b) == 0 || n == 0 && record.KindOf(b).Advances() {
			return nil
		}
		rec, rest, err := r.dec.Decode(b)
		if err != nil {
			return err
		}
		r.backlog.pop(len(b) - len(rest))
		r.ticks = rec
		c.apply(rec)
	}
}

// untimed reports whether a record has arrived that waits for no tick, such as a line of chat.
func (r *runner) untimed() bool {
	b := r.backlog.bytes()
	return r.follower != nil && len(b) > 0 && r.frame() == nil && !record.KindOf(b).Advances()
}

// frame returns the frame of the next tick, if the record decoded last has it. A frame's memory is the backlog's, so it
// is run before the next push; a run of empty ticks may wait.
func (r *runner) frame() *lockstep.Frame {
	if r.ticks == nil {
		return nil
	}
	return r.ticks.FrameAfter(r.follower.Tick())
}

// apply takes a record that is about the ticks so far.
func (c *Client) apply(rec *record.Record) {
	if rec.Kind != record.KindMismatch || rec.Tick != c.mismatches.tick {
		c.tellMismatch()
	}
	switch rec.Kind {
	case record.KindChecksum:
		c.mismatches.agree(rec.Tick, c.run.every(), rec.Hash)
		c.checks.match(rec.Tick, c.run.every(), rec.Hash)
		c.compare(rec)
	case record.KindMismatch:
		c.checks.differs(rec.Tick, c.run.every(), Differing{rec.Player, rec.Hash})
		c.mismatches.add(rec.Tick, c.run.every(), rec.Player, rec.Hash)
	case record.KindNote, record.KindEvent:
		c.roster.take(rec)
	case record.KindEnd:
		c.over = true
		c.end(rec)
		c.hangUp(nil)
	}
}

// tellMismatch tells who differs, once no more checksums of the check follow.
func (c *Client) tellMismatch() {
	if e, news := c.mismatches.closed(); news {
		c.tell(e)
	}
}

// end takes the end record, and compares it with the end that the rules have computed here.
func (c *Client) end(rec *record.Record) {
	if d := (*lockstep.DesyncError)(nil); errors.As(c.run.follower.Apply(rec), &d) {
		c.run.differing++
		c.differs(Desynced{Tick: d.Tick, End: d.End})
	}
	e := Ended{Reason: rec.Text, ByRules: rec.ByRules}
	if result, err := c.game.DecodeResult(rec.Result); err == nil {
		e.Result = result
	}
	c.tell(e)
}

// step runs one tick; last says that it is the last of this call.
func (c *Client) step(f *lockstep.Frame, last bool) error {
	r := &c.run
	if c.options.Interpolate && last {
		if err := c.keepPrevious(); err != nil {
			return err
		}
	}
	if err := r.follower.Advance(f); err != nil {
		return err
	}
	if d := r.follower.Outrun(); d != nil {
		c.differs(Desynced{Tick: d.Tick, End: d.End})
	}
	for i := range f.Commands {
		if f.Commands[i].Player == lockstep.System {
			switch v := c.systemCommand(&f.Commands[i]).(type) {
			case *lockstep.SpeedSet:
				c.pace.playing = int64(v.Percent)
			default:
				c.roster.command(v)
			}
		}
	}
	c.roster.ticked()
	if c.predict.Confirm(r.follower.Simulation(), c.own.Confirm(f, c.seat, c.predict.Due())) {
		c.smooth.corrections++
	}
	c.forgetRun()
	c.explain()
	t := f.Tick
	r.tape.add(f, c.options.MaxBacklog/4)
	if c.options.HashTicks {
		r.hashes.keep(r.follower, c.options.KeepStates)
	}
	if t%r.every() == 0 {
		r.tape.forget(r.follower.MomentFrom(0).Tick)
		c.out.report(t)
	}
	return nil
}

// keepPrevious keeps the state before the next tick.
func (c *Client) keepPrevious() (err error) {
	r := &c.run
	if r.previous == nil {
		if r.previous, err = c.game.AwaitState(r.follower.Header()); err != nil {
			return err
		}
	}
	return r.previous.CopyFrom(r.follower.Simulation())
}

// compare compares a checksum of the stream with our own.
func (c *Client) compare(rec *record.Record) {
	r, t := &c.run, rec.Tick
	before := r.follower.Checked()
	err := r.follower.Apply(rec)
	if r.follower.Checked() == before {
		return // not kept
	}
	if d := (*lockstep.DesyncError)(nil); errors.As(err, &d) {
		r.differing++
		c.checks.compared(t, r.every(), d.Got)
		c.differs(Desynced{Tick: t, Got: d.Got, Want: d.Want})
		return
	}
	if t > r.counted { // after a state sync, a check may come again
		r.agreed, r.counted = r.agreed+1, t
	}
	c.checks.compared(t, r.every(), rec.Hash)
	if r.diverged && t >= r.parted { // not on an earlier tick
		r.diverged = false
		c.tell(Healed{t})
	}
}

// differs makes an event of the first mismatch in a row.
func (c *Client) differs(d Desynced) {
	if !c.run.diverged {
		c.run.diverged, c.run.parted = true, d.Tick
		c.tell(d)
	}
}

// View returns the states to draw, and false before the first state has arrived.
func (c *Client) View() (View, bool) {
	r := &c.run
	if r.follower == nil {
		return View{}, false
	}
	v := View{Previous: r.previous, Current: r.follower.Simulation(), Fraction: c.pace.fraction()}
	if s := c.predict.Current(); s != nil {
		v.Previous, v.Current, v.Predicted = c.predict.Previous(), s, true
	}
	if v.Previous == nil || v.Previous.Tick() == v.Current.Tick() {
		v.Previous = v.Current
	}
	return v, true
}

// Render calls draw with the client's view, if there is one. With the option CheckRender it returns [ErrWritten] if
// draw has changed a state.
func (c *Client) Render(draw func(View)) error {
	v, ok := c.View()
	if !ok {
		return nil
	}
	if !c.options.CheckRender {
		draw(v)
		return nil
	}
	previous, current := v.Previous.Hash(), v.Current.Hash()
	draw(v)
	if v.Previous.Hash() != previous || v.Current.Hash() != current {
		return fmt.Errorf("%w of tick %d", ErrWritten, v.Current.Tick())
	}
	return nil
}

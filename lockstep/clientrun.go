package lockstep

import (
	"errors"
	"fmt"
)

// A runner runs what has arrived.
type runner struct {
	follower *Follower
	dec      Decoder
	backlog  backlog
	empty    uint32 // ticks left of a run of empty ones
	frame    Frame  // scratch: an empty tick
	previous *Simulation

	agreed    int // checksums of the stream that are ours
	differing int
	diverged  bool        // at the last one, or the server says so
	parted    Tick        // the check that was the first to differ
	stray     *Simulation // the state that differed, until it is compared
}

// begin goes on from the state of f, at a place in the stream.
func (r *runner) begin(f *Follower, at *stream) {
	r.follower, r.dec = f, Decoder{stream: *at}
	r.previous = nil
	r.discard()
}

// discard forgets what has arrived.
func (r *runner) discard() {
	r.backlog.clear()
	r.empty = 0
}

// Tick returns the tick of the confirmed state.
func (c *Client) Tick() Tick {
	if c.run.follower == nil {
		return 0
	}
	return c.run.follower.Tick()
}

// level returns how many ticks have arrived and not been run.
func (c *Client) level() Tick {
	if c.run.follower == nil || c.run.backlog.len() == 0 && c.run.empty == 0 {
		return 0
	}
	return c.run.dec.tick - c.Tick() + c.waitingTicks()
}

// waitingTicks returns how many ticks the backlog has. While the stream is
// broken or dropped, what is left of it is all there will be.
func (c *Client) waitingTicks() Tick {
	if c.in.dec.tick < c.run.dec.tick {
		return 0
	}
	return c.in.dec.tick - c.run.dec.tick
}

// play runs what is due.
func (c *Client) play() {
	if c.run.follower == nil || c.fatal != nil {
		return
	}
	level := int64(c.level())
	due := min(level, int64(c.options.Pacing.Budget))
	if c.lateTicks() {
		c.catchingUp = true
	}
	if c.catchingUp {
		c.pace.passed = c.clock
	} else {
		due = min(c.pace.pass(c.clock, level), due)
	}
	before := c.Tick()
	err := c.runTicks(due)
	c.pace.ran(int64(c.Tick() - before))
	if err != nil {
		c.fail(err)
		return
	}
	c.report()
	c.predictTicks()
}

// lateTicks reports whether the client is so late that it catches up with all
// it has.
func (c *Client) lateTicks() bool {
	return !c.options.Pacing.AsTheyCome && c.pace.span(int64(c.level()), c.pace.playing) > c.options.Pacing.FarBehind
}

// report tells how far the catching up is.
func (c *Client) report() {
	if !c.catchingUp || c.in.from() == 0 || c.link != linkUp {
		return
	}
	t := c.Tick()
	ahead := Tick(1)
	if span := c.pace.span(1, c.pace.playing); span > 0 {
		ahead += Tick(c.pace.delay() / span)
	}
	if t >= c.serverTick || c.serverTick-t <= ahead {
		c.catchingUp, c.in.asks = false, 0
		c.tell(Synced{t})
	} else if t > c.progressed {
		c.progressed = t
		c.tell(SyncProgress{Tick: t, Target: c.serverTick})
	}
}

// runTicks runs the next n ticks, and the records that stand before, between
// and right after them.
func (c *Client) runTicks(n int64) error {
	r := &c.run
	for {
		if r.empty > 0 {
			if n == 0 {
				return nil
			}
			r.empty--
			n--
			r.frame.Tick = c.Tick() + 1
			if err := c.step(&r.frame, n == 0); err != nil {
				return err
			}
			continue
		}
		b := r.backlog.bytes()
		if len(b) == 0 {
			return nil
		}
		if k := KindOf(b); n == 0 && (k == RecordFrame || k == RecordEmpty) {
			return nil
		}
		rec, rest, err := r.dec.Decode(b)
		if err != nil {
			return err
		}
		if rec.Kind == RecordFrame {
			n--
		}
		if err := c.apply(rec, n == 0); err != nil {
			return err
		}
		r.backlog.pop(len(b) - len(rest))
	}
}

func (c *Client) apply(rec *Record, last bool) error {
	r := &c.run
	switch rec.Kind {
	case RecordFrame:
		return c.step(&rec.Frame, last)
	case RecordEmpty:
		r.empty = rec.Empty
	case RecordChecksum:
		c.compare(rec.Tick, rec.Root)
	case RecordNote:
		c.tell(Note{rec.Player, rec.Topic, rec.Text})
	case RecordEnd:
		c.over = true
		c.tell(Ended{rec.Text})
		c.hangUp(nil)
	}
	return nil
}

// step runs one tick; last says that it is the last of this call.
func (c *Client) step(f *Frame, last bool) error {
	r := &c.run
	if c.options.Interpolate && last {
		if err := c.keepPrevious(); err != nil {
			return err
		}
	}
	if err := r.follower.Advance(f); err != nil {
		return err
	}
	for i := range f.Commands {
		if f.Commands[i].Player == System {
			if v, ok := c.systemCommand(&f.Commands[i]).(*SpeedSet); ok {
				c.pace.playing = int64(v.Percent)
			}
		}
	}
	c.predict.confirm(f, c.seat, &c.own)
	c.settle()
	c.compareStray()
	t := f.Tick
	if t%Tick(r.follower.header.Settings.CheckEvery) == 0 {
		c.out.report(t)
	}
	return nil
}

// keepPrevious keeps the state before the next tick.
func (c *Client) keepPrevious() (err error) {
	r := &c.run
	if r.previous == nil {
		if r.previous, err = c.game.blank(r.follower.header); err != nil {
			return err
		}
	}
	return r.previous.CopyFrom(r.follower.sim)
}

// compare compares a checksum of the stream with our own.
func (c *Client) compare(t Tick, root uint64) {
	r := &c.run
	before := r.follower.checked
	err := r.follower.compare(t, root, false)
	if r.follower.checked == before {
		return // not kept
	}
	if d := (*DesyncError)(nil); errors.As(err, &d) {
		r.differing++
		c.differs(Desynced{Tick: t, Got: d.Got, Want: d.Want})
		return
	}
	r.agreed++
	if r.diverged && t >= r.parted { // and not only agrees on what was before
		r.diverged = false
		c.tell(Healed{t})
	}
}

// differs tells of the first of a row of differing checksums.
func (c *Client) differs(d Desynced) {
	if !c.run.diverged {
		c.run.diverged, c.run.parted = true, d.Tick
		c.tell(d)
	}
}

// View returns what to draw, and false before the first state has arrived.
func (c *Client) View() (View, bool) {
	r := &c.run
	if r.follower == nil {
		return View{}, false
	}
	v := View{Previous: r.previous, Current: r.follower.sim, Fraction: c.pace.fraction()}
	if p := &c.predict; p.ready() {
		v.Previous, v.Current, v.Predicted = p.previous, p.sim, true
	}
	if v.Previous == nil || v.Previous.tick == v.Current.tick {
		v.Previous = v.Current
	}
	return v, true
}

// Render calls draw with the client's view, if there is one. With the option
// CheckRender it returns [ErrWritten] if draw has changed a state.
func (c *Client) Render(draw func(View)) error {
	v, ok := c.View()
	if !ok {
		return nil
	}
	if !c.options.CheckRender {
		draw(v)
		return nil
	}
	previous, current := v.Previous.Root(), v.Current.Root()
	draw(v)
	if v.Previous.Root() != previous || v.Current.Root() != current {
		return fmt.Errorf("%w of tick %d", ErrWritten, v.Current.tick)
	}
	return nil
}

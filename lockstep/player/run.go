package player

import (
	"fmt"
	"math/bits"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/predict"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/stream"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Tick returns the tick of the confirmed state, or of the last view.
func (c *Client) Tick() lockstep.Tick {
	if c.look != nil {
		return c.look.Tick()
	}
	if f := c.run.Follower; f != nil {
		return f.Tick()
	}
	return 0
}

// play runs the ticks that are due, and shows what follows from them.
func (c *Client) play() {
	f := c.run.Follower
	if f == nil || c.link.Err != nil {
		return
	}
	level := int64(c.run.Level(c.in.Tick()))
	due := min(level, int64(c.options.Pacing.Budget))
	if c.pace.FarBehind(level) {
		c.catchingUp = true // so late that all ticks that are here run at once
	}
	elapsed := c.pace.Elapsed(c.clock)
	if c.catchingUp {
		c.pace.Skip(c.clock)
	} else {
		due = min(c.pace.Pass(c.clock, level), due)
	}
	before := f.Tick()
	err := c.runTicks(due)
	ran := f.Tick() - before
	still := c.pace.Ran(int64(ran), c.mostOwed()) // the next tick was not here
	if err != nil {
		c.fail(err)
		return
	}
	c.report()
	path, _ := c.path()
	n := c.predict.Advance(c.clock, &c.own, &predict.Input{
		Game: c.game, Confirmed: f.Simulation(), Owed: lockstep.Tick(c.pace.Owed), Seat: c.seat,
		Late: c.catchingUp, Watches: c.role == protocol.Spectator, Path: path,
	})
	c.smooth.rollbacks += n.Rollbacks
	c.smooth.corrections += n.Corrections
	switch {
	case c.options.Pacing.AsTheyCome:
	case !c.runs():
		c.smooth.stood = 0
	case c.catchingUp && ran == 0 || !c.catchingUp && c.predict.Stands:
		c.smooth.pass(elapsed, elapsed)
	default:
		c.smooth.pass(elapsed, still)
	}
}

// path returns how long a command takes that is submitted now, and whether its tick can be expected.
func (c *Client) path() (w predict.Path, expects bool) {
	w = predict.Path{
		Tick:       c.pace.Tick(),
		Ahead:      c.pace.Behind(int64(c.run.Level(c.in.Tick()))) + c.measure.roundTrip,
		InputDelay: c.in.InputDelay,
	}
	return w, c.link.State == dialing.Up && c.runs() && c.pace.Steady()
}

// mostOwed returns over how many ticks that are late the prediction goes on.
func (c *Client) mostOwed() int64 {
	switch {
	case c.options.PredictLate == 0 || c.options.Pacing.AsTheyCome || c.catchingUp || c.run.Follower == nil || c.predict.Failed || c.run.Level(c.in.Tick()) > 0:
		return 0
	case !c.runs() || !c.pace.Steady():
		return c.pace.Owed // nobody knows when the next tick is due
	}
	return int64(c.predict.MostOwed())
}

// SetPredict changes how many ticks the client predicts at most, those that are late included; see [Options]. An owner that
// finds that its machine needs too long for them asks for fewer: then the player's own commands show later.
func (c *Client) SetPredict(ticks lockstep.Tick) { c.predict.SetMost(ticks) }

// MostPredicted returns how many ticks the client predicts at most, see SetPredict.
func (c *Client) MostPredicted() lockstep.Tick { return c.predict.Most }

// Predicted returns the predicted state, for reading, or nil if there is none. It is valid until the next call of the
// client.
func (c *Client) Predicted() *lockstep.Simulation { return c.predict.Current() }

// runs reports whether ticks are sealed, as far as the client knows.
func (c *Client) runs() bool {
	held := c.held.Reason != "" && c.held.Reason != protocol.HeldSlower
	paused, _ := c.in.Paused()
	return !held && !paused && !c.over && c.link.Err == nil
}

// report makes the events of catching up.
func (c *Client) report() {
	if !c.catchingUp || c.in.From() == 0 || c.link.State != dialing.Up {
		return
	}
	t := c.Tick()
	ahead := lockstep.Tick(1)
	if tick := c.pace.Tick(); tick > 0 {
		ahead += lockstep.Tick(c.pace.Delay() / tick)
	}
	if t >= c.serverTick || c.serverTick-t <= ahead {
		c.catchingUp = false
		c.in.Settled()
		c.tell(Synced{t})
	} else if t > c.progressed {
		c.progressed = t
		c.tell(SyncProgress{Tick: t, Target: c.serverTick})
	}
}

// runTicks runs the next n ticks, and the records that stand before, between and right after them.
func (c *Client) runTicks(n int64) error {
	for {
		f, rec, err := c.run.Next(n, len(c.events) >= maxEvents)
		switch {
		case err != nil:
			return err
		case f != nil:
			n--
			if err := c.step(f, n == 0); err != nil {
				return err
			}
		case rec != nil:
			c.run.Apply(rec)
			c.events = c.run.Events(c.events)
			switch rec.Kind {
			case record.KindNote, record.KindEvent:
				c.roster.take(rec)
			case record.KindEnd:
				c.over = true
				c.tell(endOf(c.game, rec))
				c.hangUp(nil)
			}
		default:
			return nil
		}
	}
}

// endOf returns what a record says of the match's end.
func endOf(g *lockstep.Game, rec *record.Record) Ended {
	e := Ended{Reason: rec.Text, ByRules: rec.ByRules}
	if result, err := g.DecodeResult(rec.Result); err == nil {
		e.Result = result
	}
	return e
}

// step runs one tick; last says that it is the last of this call.
func (c *Client) step(f *lockstep.Frame, last bool) error {
	if err := c.run.Step(f, last); err != nil {
		return err
	}
	c.events = c.run.Events(c.events)
	for i := range f.Commands {
		cmd := &f.Commands[i]
		if reason, refused := c.Simulation().Refused(cmd); refused && cmd.Player == c.seat && c.own.Refused(cmd.Sequence, reason) {
			c.tell(Refused{cmd.Sequence, cmd.Tick, reason})
		}
		if cmd.Player == lockstep.System {
			switch v := stream.System(c.payloads, cmd).(type) {
			case *lockstep.SpeedSet:
				c.pace.Playing(int64(v.Percent))
			default:
				c.roster.command(v)
			}
		}
	}
	c.roster.ticked()
	if c.predict.Confirm(c.Simulation(), c.own.Confirm(f, c.seat, c.predict.Due)) {
		c.smooth.corrections++
	}
	if c.in.From() > 0 { // see answered
		c.own.Forget(f.Tick)
	}
	if c.run.Ticked(f) {
		c.out.Report(f.Tick)
	}
	c.events = c.run.Events(c.events)
	return nil
}

// Interpolation returns the states to draw, and false before the first state has arrived.
func (c *Client) Interpolation() (Interpolation, bool) {
	f := c.run.Follower
	if f == nil {
		return Interpolation{}, false
	}
	v := Interpolation{Previous: c.run.Previous, Current: f.Simulation(), Fraction: Fraction(c.pace.Fraction())}
	if s := c.predict.Current(); s != nil {
		v.Previous, v.Current, v.Predicted = c.predict.Previous, s, true
	}
	if v.Previous == nil || v.Previous.Tick() == v.Current.Tick() {
		v.Previous = v.Current
	}
	return v, true
}

// Render calls draw with the client's view, if there is one. With the option CheckRender it returns [ErrWritten] if
// draw has changed a state.
func (c *Client) Render(draw func(Interpolation)) error {
	v, ok := c.Interpolation()
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

// A Fraction is a part of the time between two ticks, 0 to [One]. Beyond One it is a time after both: see Options.Extrapolate.
type Fraction uint32

const fractionBits = 16

// One is the whole of a Fraction.
const One Fraction = 1 << fractionBits

// An Interpolation is the input of a renderer: two states of the match, one tick apart, and how much of the time between them has
// passed. Both are read-only: a renderer that writes to one desyncs this client (see [Client.Render]). It is valid
// until the next call of the client.
type Interpolation struct {
	Previous  *lockstep.Simulation
	Current   *lockstep.Simulation
	Fraction  Fraction
	Predicted bool // the states are ahead of the confirmed one: see Options.Predict and Options.PredictLate
}

// Lerp returns the value at a fraction of the way from a to b, rounded towards a. It is exact for all integers, and so
// for fixed-point numbers. Beyond One it goes on in a straight line, and wraps around as integers do.
func Lerp[T ~int8 | ~int16 | ~int32 | ~int64](a, b T, f Fraction) T {
	if b < a {
		return T(int64(a) - part(uint64(int64(a))-uint64(int64(b)), f))
	}
	return T(int64(a) + part(uint64(int64(b))-uint64(int64(a)), f))
}

// LerpTurn is Lerp for angles: the type's whole range is one turn, and the shorter way is taken.
func LerpTurn[T ~uint8 | ~uint16 | ~uint32](a, b T, f Fraction) T {
	if way := b - a; way <= ^T(0)/2 {
		return a + T(part(uint64(way), f))
	}
	return a - T(part(uint64(a-b), f))
}

func part(distance uint64, f Fraction) int64 {
	hi, lo := bits.Mul64(distance, uint64(f))
	return int64(hi<<(64-fractionBits) | lo>>fractionBits)
}

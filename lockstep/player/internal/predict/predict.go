// Package predict runs a player's own commands ahead of the confirmed state, on a copy, so that they show at once. While frames are
// late it goes on as if nobody had given a command. What it computes is never sent.
//
// A [Prediction] has the copy and how far ahead it runs. Which command runs in which tick is in [commands.Own], which its owner
// passes; the confirmed state, too. It has no clock and no connection.
//
// # States
//
//	none ──Advance, with a lead or owed ticks──> valid ──(a frame or an answer refutes it)──> at fault ──Advance──> valid
//	  ^                                            |
//	  └─────(catching up, no lead, or the rules fail on what is predicted)
//
// A valid prediction advances with each tick that is due: one copy and one tick. One that is at fault begins again from the
// confirmed state and runs up to the tick that was shown, so that what is shown never goes back; if its state is then another
// one although nobody could be surprised, that was a correction, which a user may see. [Prediction.Advance] returns what it
// counted. After a failure of the rules nothing is predicted until another tick is due: a server refuses such commands.
//
// # How far
//
// The lead is so long that a command submitted now takes effect in the next predicted tick: the server's input delay, the round trip
// and the time for which the player shows a tick after it was sealed, corrected by what answers teach ([Prediction.Answered]). It
// grows at once, and shrinks by a tick in a second at most, because the picture then stands still. [Prediction.SetMost] bounds it, together
// with the ticks that are owed: due by the plan of the pace, and not here.
//
// # Who calls what
//
//	a command is submitted     Assume
//	it is answered             Answered, with what Own.Answer returned
//	a frame has run            Confirm, with what Own.Confirm returned
//	the state is replaced      Refuse
//	after the due ticks        Advance
//	something is drawn         States, or Current
//
//samestep:deterministic
package predict

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/commands"
)

// shrinkTime is the least time between two ticks by which the prediction runs less far ahead.
const shrinkTime = lockstep.Second

// Fractions of a tick.
const (
	fractionBits = 16
	half         = 1 << fractionBits / 2
)

// A Prediction is the confirmed state plus the player's own commands that are not in it yet, some ticks ahead, and further ahead
// while frames are late.
type Prediction struct {
	options  Options
	sim      *lockstep.Simulation
	Previous *lockstep.Simulation // one tick before
	valid    bool
	fault    commands.Error // what has refuted sim, which is then computed again in the next call
	judged   bool           // whether this is a correction is known already
	Stands   bool           // sim did not advance in the last call, so the picture stands still: previous is equal to it
	Failed   bool           // the rules failed in ticks after base: nothing is predicted until another tick is due
	Due      lockstep.Tick  // the tick that was due in the last call: the confirmed one, or a late one
	lead     lockstep.Tick  // how many ticks ahead of that
	shrunk   lockstep.Time  // when lead shrank last
	Most     lockstep.Tick  // ahead of the confirmed state
	frame    lockstep.Frame
	arrival  lockstep.Time // corrects the estimated time at which the server gets own commands; learned from receipts
}

// Options are how many ticks are predicted at most.
type Options struct {
	Ahead lockstep.Tick // of those that are due
	Late  lockstep.Tick // that are owed
}

// New returns a Prediction.
func New(o Options) Prediction {
	return Prediction{options: o, Most: max(o.Ahead, o.Ahead+o.Late)} // the sum may overflow
}

// A Path is how long a command takes to the server and back into what is shown.
type Path struct {
	Tick       lockstep.Time // the duration of one
	Ahead      lockstep.Time // how long after its undisturbed arrival a tick is shown, and the round trip
	InputDelay lockstep.Tick
}

// delay returns after how many ticks the server runs a command submitted now, when a part of the tick after the one that is due
// has passed.
func (p *Prediction) delay(w *Path, passed uint32) lockstep.Tick {
	if w.Tick == 0 {
		return w.InputDelay
	}
	ahead := w.Ahead + p.arrival + w.Tick*lockstep.Time(passed)>>fractionBits
	return w.InputDelay + lockstep.Tick(max(0, ahead)/w.Tick)
}

// SetMost changes how many ticks are predicted at most, those that are owed included.
func (p *Prediction) SetMost(ticks lockstep.Tick) { p.Most = ticks }

// Current returns the predicted state, or nil if there is none.
func (p *Prediction) Current() *lockstep.Simulation {
	if p.sim == nil || !p.valid {
		return nil
	}
	return p.sim
}

// Shown returns the tick of the predicted state; 0 if there is none.
func (p *Prediction) Shown() lockstep.Tick {
	if s := p.Current(); s != nil {
		return s.Tick()
	}
	return 0
}

// Assume chooses the tick in which the newest command is predicted: the next one or that after it, whichever the server will run it in;
// the next one if that is neither, so that the command shows at once. expects says that the server's tick can be expected, unlike in
// a paused match.
func (p *Prediction) Assume(own *commands.Own, w *Path, expects bool, passed uint32) {
	if p.Current() == nil || p.lead == 0 {
		return
	}
	expected := lockstep.Tick(0)
	if expects {
		expected = p.Due + p.delay(w, passed)
	}
	own.Assume(p.sim.Tick()+1, expected)
}

// Answered learns from an answer how late commands arrive. tick is the duration of one.
func (p *Prediction) Answered(a commands.Answered, tick lockstep.Time) {
	if a.Expected {
		p.arrival = max(-2*tick, min(p.arrival+lockstep.Time(a.Late)*tick/32, 2*tick))
	}
	p.fault = max(p.fault, a.Error)
}

// Confirm takes the state after a frame that has run, and what was wrong with the assumptions about it. It reports whether s is
// another state than what was shown as that of the same tick, because of the connection.
func (p *Prediction) Confirm(s *lockstep.Simulation, e commands.Error) (corrected bool) {
	p.fault = max(p.fault, e)
	if p.fault != commands.Wrong || p.judged || p.Shown() != s.Tick() {
		return false
	}
	p.judged = true
	return p.sim.Hash() != s.Hash()
}

// Refuse makes the prediction begin again, because the confirmed state is replaced.
func (p *Prediction) Refuse() { p.fault = commands.Wrong }

// MostOwed returns over how many ticks that are owed the prediction goes on.
func (p *Prediction) MostOwed() lockstep.Tick {
	return min(p.options.Late, p.Most-min(p.Most, p.lead))
}

// Input is what a prediction starts from.
type Input struct {
	Game      *lockstep.Game
	Confirmed *lockstep.Simulation
	Owed      lockstep.Tick // ticks that are due and not here
	Seat      lockstep.Player
	Late      bool // the player catches up: nothing is predicted
	Watches   bool // it has no commands
	Path      Path
}

// Counts are what a call of [Prediction.Advance] counts.
type Counts struct {
	Corrections int // states on display that were replaced by another one of the same tick, because of the connection
	Rollbacks   int // times that the prediction began again
}

// Advance brings the prediction up to what is due.
func (p *Prediction) Advance(now lockstep.Time, own *commands.Own, in *Input) (n Counts) {
	p.aim(now, in)
	if in.Late || p.lead+in.Owed == 0 {
		if p.valid && p.fault != commands.None {
			n.Rollbacks++
		}
		p.valid, p.Stands = false, false
		p.Failed = p.Failed && in.Confirmed.Tick() == p.Due
		return n
	}
	if p.sim != nil && p.sim.Header() != in.Confirmed.Header() {
		p.sim, p.valid = nil, false
	}
	due := in.Confirmed.Tick() + in.Owed
	if p.Failed && due == p.Due {
		return n // until something is different
	}
	goal := due + p.lead
	if p.Current() != nil {
		goal = max(goal, p.sim.Tick()) // it never goes back
	}
	p.Stands = (p.Stands || due != p.Due) && p.Shown() == goal
	err := p.redo(own, in, goal, &n)
	for err == nil && p.sim.Tick() < goal {
		err = p.foresee(own, in.Seat, goal)
	}
	if err == nil && p.Stands {
		err = p.Previous.CopyFrom(p.sim)
	}
	p.Due = due
	if p.valid, p.Failed = err == nil, err != nil; p.Failed { // on our own commands: the server will refuse them
		p.Due = in.Confirmed.Tick() // nothing is owed until there is another one
	}
	return n
}

// redo begins again from the confirmed state if that is needed, and goes on to the tick that was shown.
func (p *Prediction) redo(own *commands.Own, in *Input, goal lockstep.Tick, n *Counts) (err error) {
	if p.sim == nil {
		if p.sim, err = in.Game.AwaitState(in.Confirmed.Header()); err == nil {
			p.Previous, err = in.Game.AwaitState(in.Confirmed.Header())
		}
		if err != nil {
			return err
		}
	}
	if p.valid && p.fault == commands.None {
		return nil
	}
	if p.valid {
		n.Rollbacks++
	}
	if p.lead > 0 {
		own.AssumeRest(in.Confirmed.Tick() + 1) // submitted while nothing was predicted
	}
	shown, hash := lockstep.Tick(0), uint64(0)
	if p.valid && p.fault == commands.Wrong && !p.judged && p.sim.Tick() > in.Confirmed.Tick() {
		shown, hash = p.sim.Tick(), p.sim.Hash()
	}
	p.fault, p.judged = commands.None, false
	err = p.sim.CopyFrom(in.Confirmed)
	for err == nil && p.sim.Tick() < shown {
		err = p.foresee(own, in.Seat, goal)
	}
	if err == nil && shown > 0 && p.sim.Tick() == shown && p.sim.Hash() != hash {
		n.Corrections++
	}
	return err
}

// foresee runs the next tick as far as the player knows it. The state before the goal is kept.
func (p *Prediction) foresee(own *commands.Own, seat lockstep.Player, goal lockstep.Tick) error {
	next := p.sim.Tick() + 1
	if next == goal {
		if err := p.Previous.CopyFrom(p.sim); err != nil {
			return err
		}
	}
	own.Frame(&p.frame, next, seat)
	return p.sim.Step(&p.frame)
}

// aim chooses how far ahead the prediction runs: so that a command submitted now takes effect in its next tick. It
// shrinks only if that is more than half a tick too far, to avoid oscillation, and by a tick at a time, because the picture then stands
// still for one.
func (p *Prediction) aim(now lockstep.Time, in *Input) {
	most := min(p.options.Ahead, p.Most)
	if most == 0 || in.Watches {
		p.lead = 0
		return
	}
	if p.lead = min(p.lead, most); in.Owed > 0 && p.lead > 0 {
		return // ticks are late: nobody knows how far ahead it should be
	}
	ahead := func(passed uint32) lockstep.Tick { return min(max(2, p.delay(&in.Path, passed))-1, most) }
	if least := ahead(0); least > p.lead {
		p.lead = least
	} else if ahead(half) < p.lead && now >= p.shrunk+shrinkTime {
		p.lead--
		p.shrunk = now
	}
}

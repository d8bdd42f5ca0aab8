package desync

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A variation is a part of the match with one change.
type variation struct {
	from   lockstep.Tick
	state  []byte // at from; nil means the right one
	frames map[lockstep.Tick]*lockstep.Frame
	config []byte             // canonical; nil means that of the match
	near   func() []variation // with a part of the change, or with other values in its place: if one fits as well, nothing tells which it was; or nil
}

// A tester plays variations within a time. It belongs to one goroutine.
type tester struct {
	again *rerun
	sim   *lockstep.Simulation
	clock clock
	spent int // ticks
	buf   []byte
	tell  func(done, all time.Duration) // reports progress; nil disables it
}

var errBudget = errors.New("desync: the time for trials is over")

func newTester(x *rerun, o *Options) (*tester, error) {
	sim, err := x.game.NewSimulation(x.header)
	if err != nil {
		return nil, err
	}
	t := &tester{again: x, sim: sim, tell: o.Progress}
	t.clock.begin(o.Now, o.Budget)
	return t, nil
}

// A clock measures the time of trials. Without a source of time, each simulated tick counts as tickTime, so that a
// result depends on nothing but its inputs.
type clock struct {
	now   func() time.Time
	start time.Time
	ticks int
	end   time.Duration
	whole time.Duration
}

// tickTime is what a simulated tick counts for where there is no clock.
const tickTime = 100 * time.Microsecond

func (c *clock) begin(now func() time.Time, budget time.Duration) {
	*c = clock{now: now, end: budget, whole: budget}
	if now != nil {
		c.start = now()
	}
}

// spent returns the time since the start.
func (c *clock) spent() time.Duration {
	if c.now == nil {
		return time.Duration(c.ticks) * tickTime
	}
	return c.now().Sub(c.start)
}

func (c *clock) left() time.Duration { return c.end - c.spent() }

// tick counts a tick that is about to be simulated, or returns errBudget.
func (p *tester) tick() error {
	if p.clock.left() <= 0 {
		return errBudget
	}
	p.clock.ticks++
	p.spent++
	if p.tell != nil && p.spent%64 == 0 {
		p.tell(p.clock.spent(), p.clock.whole)
	}
	return nil
}

// play simulates a variation up to tick to, and returns the state there, valid until the next call. The state is nil if
// the game cannot continue, which a variation can cause. It calls visit after each tick, and ends if that returns false;
// visit may be nil.
func (p *tester) play(v *variation, to lockstep.Tick, visit func(lockstep.Tick, []byte) bool) ([]byte, error) {
	begin := v.state
	if begin == nil {
		begin = p.again.state(v.from)
	}
	sim, err := p.simulation(v)
	if err != nil || begin == nil || sim.Restore(v.from, begin) != nil {
		return nil, nil
	}
	for t := v.from + 1; t <= to; t++ {
		if err := p.tick(); err != nil {
			return nil, err
		}
		f := v.frames[t]
		if f == nil {
			own := p.again.frame(t)
			f = &own
		}
		if sim.StepInOrderGiven(f) != nil {
			return nil, nil
		}
		if visit != nil {
			p.buf = sim.AppendState(p.buf[:0])
			if !visit(t, p.buf) {
				return nil, nil
			}
		}
	}
	p.buf = sim.AppendState(p.buf[:0])
	return p.buf, nil
}

// simulation returns the simulation of a variation: another one if it has another configuration, which the game may refuse.
func (p *tester) simulation(v *variation) (*lockstep.Simulation, error) {
	if v.config == nil {
		return p.sim, nil
	}
	h := *p.again.header
	h.Config = v.config
	return p.again.game.NewSimulation(&h)
}

// last returns the last tick with another frame; 0 if there is none.
func (v *variation) last() (last lockstep.Tick) {
	for t := range v.frames { // the order does not matter
		last = max(last, t)
	}
	return last
}

// fits plays a variation and reports whether it leads to all that is known of the wrong side.
func (s *search) fits(v *variation) (bool, error) {
	begin := v.from // the first tick that it can change
	if v.state == nil {
		begin++
	}
	if begin > s.bad || s.exact > 0 && begin > s.exact || v.from == s.bad && !bytes.Equal(v.state, s.wrong) {
		return false, nil
	}
	last := v.last()
	b, err := s.play(v, s.last, func(t lockstep.Tick, b []byte) bool { return s.allows(v, last, t, b) })
	if err != nil || b == nil || len(s.hashes) == 0 {
		return b != nil, err
	}
	b, err = s.play(v, s.last, s.computedAgain)
	return b != nil, err
}

// allows reports whether a variation, whose frames differ up to tick last, may have the state b after tick t. Of ticks of which
// nothing is known it allows all but the right state, from which nothing wrong follows.
func (s *search) allows(v *variation, last, t lockstep.Tick, b []byte) bool {
	right := bytes.Equal(b, s.again.state(t))
	switch known := s.states[t]; {
	case t == s.good || t == s.since:
		return right
	case t < s.good:
		return right || s.exact == 0 || v.config != nil
	case known != nil:
		return bytes.Equal(b, known)
	case t == s.exact:
		return !right
	}
	return !right || t < last || v.config != nil
}

// computedAgain reports whether b is the state that the machine computed again after tick t, if it did.
func (s *search) computedAgain(t lockstep.Tick, b []byte) bool {
	want, known := s.hashes[t]
	if !known {
		return true
	}
	var sum checksum.Sum
	err := checksum.OfBytes(&sum, s.again.game.StateSchema(), b)
	return err == nil && checksum.FormatHash(sum.Hash) == want
}

// errControl ends trials whose control does not end in the right state.
var errControl = errors.New("desync: with nothing changed, the ticks come out otherwise")

// control plays the ticks of a variation with nothing changed, but in the same way: from the state of the same tick, and in a
// new simulation if the configuration changes. It returns errControl if a state differs from the right one: then what the
// variation leads to says nothing, and neither does any other.
func (s *search) control(v *variation) error {
	same := variation{from: v.from}
	if v.config != nil {
		same.config = s.again.header.Config
	}
	b, err := s.play(&same, s.last, func(t lockstep.Tick, b []byte) bool {
		if bytes.Equal(b, s.again.state(t)) {
			return true
		}
		s.parted = &parting{tick: t, way: WayAgain, other: slices.Clone(b)}
		return false
	})
	switch {
	case err != nil:
		return err
	case b == nil && s.parted == nil: // the rules failed
		s.parted = &parting{tick: v.from + 1, way: WayAgain}
	}
	if s.parted != nil {
		return errControl
	}
	return nil
}

// without returns a frame without command i.
func without(f *lockstep.Frame, i int) *lockstep.Frame {
	return &lockstep.Frame{Tick: f.Tick, Commands: slices.Delete(slices.Clone(f.Commands), i, i+1)}
}

// doubled returns a frame that has command i twice.
func doubled(f *lockstep.Frame, i int) *lockstep.Frame {
	return &lockstep.Frame{Tick: f.Tick, Commands: slices.Insert(slices.Clone(f.Commands), i, f.Commands[i])}
}

// replaced returns a frame in which command i is another one, in its place.
func replaced(f *lockstep.Frame, i int, c lockstep.Command) *lockstep.Frame {
	all := slices.Clone(f.Commands)
	all[i] = c
	return &lockstep.Frame{Tick: f.Tick, Commands: all}
}

// with returns a frame with more commands, in their canonical places.
func with(f *lockstep.Frame, more ...lockstep.Command) *lockstep.Frame {
	all := slices.Clone(f.Commands)
	for _, c := range more {
		c.Tick = f.Tick
		i, _ := slices.BinarySearchFunc(all, &c, func(a lockstep.Command, b *lockstep.Command) int { return record.Compare(&a, b) })
		all = slices.Insert(all, i, c)
	}
	return &lockstep.Frame{Tick: f.Tick, Commands: all}
}

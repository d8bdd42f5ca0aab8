package desync

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
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

var errBudget = errors.New("desync: out of time for trials")

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

// guesses returns the values to which a field with value now may have been altered, if its final value is wrong instead
// of right. Each value occurs once.
func guesses(now, right, wrong []byte) [][]byte {
	n := len(now)
	var list [][]byte
	for _, x := range []uint64{diff.Number(wrong), diff.Number(now) + diff.Number(wrong) - diff.Number(right), diff.Number(now) ^ diff.Number(wrong) ^ diff.Number(right)} {
		b := binary.LittleEndian.AppendUint64(nil, x)[:n]
		if n == 1 && len(right) == 1 && diff.Number(right) < 2 && diff.Number(wrong) < 2 && b[0] > 1 {
			continue // maybe a bool
		}
		if !slices.Equal(b, now) && !slices.ContainsFunc(list, func(o []byte) bool { return slices.Equal(o, b) }) {
			list = append(list, b)
		}
	}
	return list
}

// shorter reduces the count at the start of a slice by one.
func shorter(slice []byte) {
	binary.LittleEndian.PutUint32(slice, binary.LittleEndian.Uint32(slice)-1)
}

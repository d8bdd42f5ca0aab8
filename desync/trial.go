package desync

import (
	"errors"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A variation is a part of the match with one change.
type variation struct {
	from   lockstep.Tick
	state  []byte // at from; nil means the right one
	frames map[lockstep.Tick]*lockstep.Frame
}

// A tester plays variations. It belongs to one goroutine.
type tester struct {
	again *rerun
	sim   *lockstep.Simulation
	left  int // ticks that may still be simulated
	spent int
	buf   []byte
	tell  func(ticks int) // reports progress; nil disables it
}

var errBudget = errors.New("desync: the budget of trials is spent")

func newTester(x *rerun, budget int) (*tester, error) {
	sim, err := x.game.NewSimulation(x.header)
	if err != nil {
		return nil, err
	}
	return &tester{again: x, sim: sim, left: budget}, nil
}

// play simulates a variation up to tick to, and returns the state there, valid until the next call. The state is nil if
// the game cannot continue, which a variation can cause. It calls visit after each tick; visit may be nil.
func (p *tester) play(v *variation, to lockstep.Tick, visit func(lockstep.Tick, []byte)) ([]byte, error) {
	begin := v.state
	if begin == nil {
		begin = p.again.state(v.from)
	}
	if begin == nil || p.sim.Restore(v.from, begin) != nil {
		return nil, nil
	}
	for t := v.from + 1; t <= to; t++ {
		if p.left == 0 {
			return nil, errBudget
		}
		p.left--
		p.spent++
		if p.tell != nil && p.spent%64 == 0 {
			p.tell(64)
		}
		f := v.frames[t]
		if f == nil {
			own := p.again.frame(t)
			f = &own
		}
		if p.sim.StepInOrderGiven(f) != nil {
			return nil, nil
		}
		if visit != nil {
			p.buf = p.sim.AppendState(p.buf[:0])
			visit(t, p.buf)
		}
	}
	p.buf = p.sim.AppendState(p.buf[:0])
	return p.buf, nil
}

// without returns a frame without command i.
func without(f *lockstep.Frame, i int) *lockstep.Frame {
	return &lockstep.Frame{Tick: f.Tick, Commands: slices.Delete(slices.Clone(f.Commands), i, i+1)}
}

// doubled returns a frame that has command i twice.
func doubled(f *lockstep.Frame, i int) *lockstep.Frame {
	return &lockstep.Frame{Tick: f.Tick, Commands: slices.Insert(slices.Clone(f.Commands), i, f.Commands[i])}
}

// swapped returns a frame in which commands i and i+1 run in the other order.
func swapped(f *lockstep.Frame, i int) *lockstep.Frame {
	c := slices.Clone(f.Commands)
	c[i], c[i+1] = c[i+1], c[i]
	return &lockstep.Frame{Tick: f.Tick, Commands: c}
}

// with returns a frame with one more command, in its canonical place.
func with(f *lockstep.Frame, c lockstep.Command) *lockstep.Frame {
	c.Tick = f.Tick
	i, _ := slices.BinarySearchFunc(f.Commands, &c, func(a lockstep.Command, b *lockstep.Command) int { return record.Compare(&a, b) })
	return &lockstep.Frame{Tick: f.Tick, Commands: slices.Insert(slices.Clone(f.Commands), i, c)}
}

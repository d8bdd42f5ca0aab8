package profile

import (
	"context"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// maxReads limits how often the counters of allocations are read: each time stops the program for a moment.
const maxReads = 100_000

// count runs the ticks once more, without their times, and counts allocations. It looks at the states of the tenths and of the worst
// ticks, and at their commands.
func (m *measuring) count() error {
	c := &counting{measuring: m, by: make([]Allocations, max(len(m.p.Phases), 1)), at: none}
	c.every = 1 + len(m.p.total)*(len(m.p.Phases)+1)/maxReads
	if err := m.run(c); err != nil || m.o.Elsewhere {
		return err
	}
	n := float64(max(m.p.Counted, 1))
	mean := func(a Allocations) *Allocations {
		a.Objects, a.Bytes = rounded(a.Objects/n), rounded(a.Bytes/n)
		return &a
	}
	m.p.Allocations = mean(c.step)
	for i := range m.p.Phases {
		m.p.Phases[i].Allocations = mean(c.by[i])
	}
	return nil
}

// A counting counts allocations from mark to mark.
type counting struct {
	*measuring
	every   int  // of how many ticks one is counted
	on      bool // the present tick is
	worst   *Tick
	at      int // the present phase, or none outside of a step
	memory  runtime.MemStats
	objects uint64 // at the last mark
	bytes   uint64
	step    Allocations
	by      []Allocations // by phase
	tick    []uint32      // objects of the present tick, by phase
}

func (c *counting) before(f *lockstep.Frame) {
	c.worst = nil
	if i := slices.IndexFunc(c.p.Worst, func(t Tick) bool { return t.Tick == f.Tick }); i >= 0 {
		c.worst = &c.p.Worst[i]
		c.worst.Commands = c.commands(f)
	}
	if c.on = !c.o.Elsewhere && (c.worst != nil || int(f.Tick-c.p.From)%c.every == 0); c.on {
		c.p.Counted++
	}
	c.tick = append(c.tick[:0], make([]uint32, len(c.by))...)
}

func (c *counting) mark(phase string, over bool) {
	if !c.on {
		return
	}
	runtime.ReadMemStats(&c.memory)
	if c.at != none {
		n := c.memory.Mallocs - c.objects
		c.tick[c.at] += uint32(n)
		c.by[c.at].Objects += float64(n)
		c.by[c.at].Bytes += float64(c.memory.TotalAlloc - c.bytes)
		c.step.Objects += float64(n)
		c.step.Bytes += float64(c.memory.TotalAlloc - c.bytes)
	}
	c.objects, c.bytes = c.memory.Mallocs, c.memory.TotalAlloc
	if c.at = none; !over {
		c.at = c.known(phase)
	}
}

func (c *counting) after(s *lockstep.Simulation) {
	if c.on {
		sum := uint32(0)
		for i, n := range c.tick {
			sum += n
			c.by[i].most(n, s.Tick())
		}
		c.step.most(sum, s.Tick())
	}
	tenth := slices.IndexFunc(c.p.Tenths, func(x Part) bool { return x.To == s.Tick() })
	if c.worst == nil && tenth < 0 {
		return
	}
	b := s.AppendState(nil)
	lists := listsOf(c.game.StateSchema(), b)
	if c.worst != nil {
		c.worst.Lists, c.worst.Bytes = lists, len(b)
	}
	if tenth >= 0 {
		c.p.Tenths[tenth].Lists, c.p.Tenths[tenth].Bytes = lists, len(b)
	}
}

func (a *Allocations) most(n uint32, t lockstep.Tick) {
	if n > a.Most {
		a.Most, a.At = n, t
	}
}

const (
	leastCPU   = 2 * time.Second // under the profiler, which takes 100 samples a second
	maxCPURuns = 1000
)

// profile runs the ticks under Go's profiler.
func (m *measuring) profile() (err error) {
	if m.o.CPU == nil {
		return nil
	}
	if err := pprof.StartCPUProfile(m.o.CPU); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	pprof.Do(context.Background(), pprof.Labels("game", m.p.Game, "match", m.p.Match), func(ctx context.Context) {
		for started := time.Now(); err == nil && m.p.CPURuns < maxCPURuns && time.Since(started) < leastCPU; m.p.CPURuns++ {
			err = m.run(&labelling{measuring: m, all: ctx})
		}
	})
	return err
}

// A labelling labels what the profiler sees with the tick and the phase.
type labelling struct {
	*measuring
	all  context.Context // with the labels of all ticks
	tick string
}

func (l *labelling) before(f *lockstep.Frame) { l.tick = strconv.FormatUint(uint64(f.Tick), 10) }

func (l *labelling) mark(phase string, over bool) {
	if over {
		pprof.SetGoroutineLabels(l.all)
		return
	}
	name := ""
	if i := l.known(phase); i < len(l.p.Phases) {
		name = l.p.Phases[i].Name
	}
	pprof.SetGoroutineLabels(pprof.WithLabels(l.all, pprof.Labels("tick", l.tick, "phase", name)))
}

func (l *labelling) after(*lockstep.Simulation) {}

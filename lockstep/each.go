package lockstep

import (
	"cmp"
	"runtime/debug"
	"slices"

	"github.com/seed-49bee653/samestep/internal/parallel"
)

// Each calls f for the elements 0 to n-1, on several processors where that saves time, and returns after the last call. A call of f reads
// the state as it was before Each, and writes only what is of its element alone, such as item i of a list: then the result is the same on
// any number of processors and in any order. The analyzer (rule each) finds what it writes
// elsewhere, and the kit (phase each) also what it reads of others; go test -race sees both.
//
// own is the Turn of the element, which f must not keep. What f emits and draws with it is delivered in the order of the elements. f must
// not use the Turn of Step, nor Phase, End or Each of its own. If f panics, so does Step, with the panic of the lowest element.
func (t *Turn) Each(n int, f func(i int, own *Turn)) {
	t.alone("Turn.Each")
	t.each().run(t, n, f)
}

func (t *Turn) each() *each {
	if t.loops == nil {
		e := new(each)
		e.loop.Body = e.compute
		t.loops = e
	}
	return t.loops.(*each)
}

// each runs the loops of one Turn.
type each struct {
	loop  parallel.Loop
	parts [parallel.Most]part // by worker
	f     func(i int, own *Turn)
	spans []span // scratch

	// Of Simulation.Schedule.
	workers int                // 0: as many as save time
	order   func(k, n int) int // nil: ascending
	n       int                // of the present loop
}

// A part is what one worker has computed of a loop.
type part struct {
	own    Turn
	at     int // the present element
	spans  []span
	failed *elementPanic // that of the lowest element
	_      [64]byte      // so that two workers do not write into one line of the cache
}

// A span has the events and draws of elements that one worker has computed one after the other.
type span struct {
	first, worker                    int // the first element
	events, eventsTo, draws, drawsTo int
}

func (e *each) run(t *Turn, n int, f func(i int, own *Turn)) {
	for w := range e.parts {
		own := &e.parts[w].own
		own.Tick, own.Commands, own.observed, own.phase, own.use = t.Tick, t.Commands, t.observed, t.phase, useElement
		own.drawing = t.drawing || t.flight != nil
	}
	t.use, e.f, e.n = useEach, f, n
	switch {
	case e.order != nil:
		e.loop.Spread(n, e.workers, 1)
		//samestep:allow unseen that of a test
		e.order(n, n)
	case e.workers == 0:
		e.loop.Run(n)
	case e.workers == 1:
		e.loop.Spread(n, 1, max(n, 1))
	default:
		e.loop.Spread(n, e.workers, n/(8*e.workers)+1)
	}
	t.use, e.f = useStep, nil
	failed := e.failed()
	e.deliver(t)
	if failed != nil {
		panic(failed)
	}
}

// compute is the Body of the loop.
func (e *each) compute(worker, from, to int) (failed int) {
	p := &e.parts[worker]
	p.at = from
	events, draws, first := len(p.own.events), len(p.own.draws), from
	defer func() {
		if e.order != nil {
			first = p.at // a part is one element
		}
		if len(p.own.events) > events || len(p.own.draws) > draws {
			p.spans = append(p.spans, span{first, worker, events, len(p.own.events), draws, len(p.own.draws)})
		}
		//samestep:allow memory the panic is that of Step, see failed
		if v := recover(); v != nil {
			//samestep:allow runtime for people: no simulation reads it
			p.fail(&elementPanic{p.at, v, debug.Stack()})
			if failed = p.at; e.order != nil {
				failed = to // an element that comes later may be lower
			}
		}
	}()
	if e.order != nil {
		//samestep:allow unseen that of a test
		p.at = e.order(from, e.n)
		//samestep:allow unseen a game is checked where it names the function
		e.f(p.at, &p.own)
		return to
	}
	for ; p.at < to; p.at++ {
		//samestep:allow unseen a game is checked where it names the function
		e.f(p.at, &p.own)
	}
	return to
}

func (p *part) fail(f *elementPanic) {
	if p.failed == nil || f.element < p.failed.element {
		p.failed = f
	}
}

// failed returns the panic of the lowest element, and forgets all of them.
func (e *each) failed() (lowest *elementPanic) {
	for w := range e.parts {
		p := &e.parts[w]
		if f := p.failed; f != nil && (lowest == nil || f.element < lowest.element) {
			lowest = f
		}
		p.failed = nil
	}
	return lowest
}

// deliver adds the events and draws of the elements to those of the turn, in the order of the elements.
func (e *each) deliver(t *Turn) {
	e.spans = e.spans[:0]
	for w := range e.parts {
		e.spans = append(e.spans, e.parts[w].spans...)
	}
	slices.SortStableFunc(e.spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	for _, s := range e.spans {
		own := &e.parts[s.worker].own
		t.events = append(t.events, own.events[s.events:s.eventsTo]...)
		for _, d := range own.draws[s.draws:s.drawsTo] {
			t.Drew(d.Purpose, d.Entity)
		}
	}
	for w := range e.parts {
		p := &e.parts[w]
		clear(p.own.events) // for the garbage collector
		p.own.events, p.own.draws, p.spans = p.own.events[:0], p.own.draws[:0], p.spans[:0]
	}
}

// Schedule sets how [Turn.Each] computes its elements, for tests: on workers goroutines at a time, at most 8, and in an order. order
// returns the k-th element of n, is called by all workers, and at last with k = n. Nil is the ascending order. Workers of 0, without an
// order, is as many as save time, which is the default.
func (s *Simulation) Schedule(workers int, order func(k, n int) int) {
	e := s.turn.each()
	e.workers, e.order = max(workers, 0), order
}

// scheduleAs takes over the schedule of o.
func (s *Simulation) scheduleAs(o *Simulation) {
	if e, ok := o.turn.loops.(*each); ok {
		s.Schedule(e.workers, e.order)
	}
}

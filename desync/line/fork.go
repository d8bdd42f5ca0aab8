//go:build !js

package line

import (
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/module"
)

// A call is the beginning or the end of one.
type call struct {
	function int
	begins   bool
	known    int // of the values
	values   [maxValues]uint64
	watched  uint64
}

// maxValues is how many parameters or results of a call are compared.
const maxValues = 4

// batchCalls is the number of events that are compared at once.
const batchCalls = 4096

// A callStream gives the events of a side, a batch at a time.
type callStream struct {
	batch   []call
	batches chan []call
	stop    chan struct{} // closed when no more are wanted
	begun   int           // calls so far
	rest    []call        // for the reader
	back    *call         // the next event, if it was read already; nil if not
}

// add adds an event.
func (s *callStream) add(e module.Event) {
	c := call{function: e.Function, begins: e.Begins, known: min(len(e.Values), maxValues), watched: e.Watched}
	copy(c.values[:], e.Values)
	if e.Begins {
		s.begun++
	}
	if s.batch == nil {
		s.batch = make([]call, 0, batchCalls)
	}
	if s.batch = append(s.batch, c); len(s.batch) == batchCalls {
		s.flush()
	}
}

// flush gives the last events away.
func (s *callStream) flush() {
	select {
	case s.batches <- s.batch:
	case <-s.stop:
	}
	s.batch = nil
}

// next returns the next event, or nil at the end.
func (s *callStream) next() *call {
	if c := s.back; c != nil {
		s.back = nil
		return c
	}
	for len(s.rest) == 0 {
		batch, ok := <-s.batches
		if !ok {
			return nil
		}
		s.rest = batch
	}
	c := &s.rest[0]
	s.rest = s.rest[1:]
	return c
}

// leave reads up to the end of the innermost function of some that are under way, the next event being c.
func (s *callStream) leave(c *call) {
	for depth := 1; c != nil; c = s.next() {
		if c.begins {
			depth++
		} else if depth--; depth == 0 {
			return
		}
	}
}

// pass returns the event after a call that begins with c, and c itself if it begins none.
func (s *callStream) pass(c *call) *call {
	if c == nil || !c.begins {
		return c
	}
	s.leave(s.next())
	return s.next()
}

// What differs at a fork.
const (
	differentCalls = iota
	differentArguments
	differentResults
	differentMemory
)

// A fork is a place where the sides call different functions, or one function with different numbers. It has the same value in
// each tick.
type fork struct {
	kind  int
	under int    // the id of the function under way; noID for none
	next  [2]int // the ids of what is called next; noID for the end of the function under way, anyID where it does not matter
}

const (
	noID  = -1
	anyID = -2
)

// A forked is a fork in a tick.
type forked struct {
	fork
	calls [2]*call // the next events; nil for the end of a side
	stack [][2]int // the functions under way, by their numbers on the sides
	begun int      // calls before it
}

// maxStack is how many functions under way are kept of a fork: the innermost.
const maxStack = 32

// maxForks is how many forks of a tick are kept.
const maxForks = 1000

// A callComparison compares the calls of two sides in one tick.
type callComparison struct {
	sides   [2]*tracedSide
	streams [2]*callStream
	stack   [][2]int // the functions under way, by their numbers on the sides
	begun   int      // calls that were the same
	forks   []forked
	known   map[fork]bool // those of forks
	watch   [2][]uint32   // addresses of bytes to compare at each event
	memory  *memories     // nil if they are not compared
}

func newCallComparison(sides [2]*tracedSide) *callComparison {
	return &callComparison{sides: sides, known: map[fork]bool{}}
}

// tick lets the sides compute a tick, and compares their calls.
func (c *callComparison) tick(steps [2]func() (outcome, error)) (after [2]outcome, err error) {
	stop := make(chan struct{})
	var group errgroup.Group
	for i, one := range c.sides {
		to := &callStream{batches: make(chan []call), stop: stop}
		c.streams[i] = to
		group.Go(func() (err error) {
			defer close(to.batches)
			add := to.add
			if c.memory != nil {
				add = func(e module.Event) {
					c.memory.keep(i, one, e)
					to.add(e)
				}
			}
			one.observer.Observe(abi.Step, c.watch[i], add)
			after[i], err = steps[i]()
			one.observer.Observe(abi.Step, nil, nil)
			to.flush()
			return err
		})
	}
	c.read()
	close(stop)
	return after, group.Wait()
}

// read compares the events of both sides.
func (c *callComparison) read() {
	for {
		x, y := c.streams[0].next(), c.streams[1].next()
		switch {
		case x == nil && y == nil:
			return
		case !c.same(x, y):
			f := c.at(x, y)
			goesOn := c.meet(x, y, &f.fork)
			c.add(f)
			if !goesOn {
				return
			}
			continue
		case x.watched != y.watched:
			f := c.at(x, y)
			f.kind = differentMemory
			c.add(f)
			return
		case x.values != y.values:
			f := c.at(x, y)
			f.kind = differentResults
			if x.begins {
				f.kind = differentArguments
			}
			c.add(f)
		}
		if x.begins {
			c.stack = append(c.stack, [2]int{x.function, y.function})
			c.begun++
		} else if len(c.stack) > 0 {
			c.stack = c.stack[:len(c.stack)-1]
		}
	}
}

// same reports whether two events are of functions with one name.
func (c *callComparison) same(x, y *call) bool {
	return x != nil && y != nil && x.begins == y.begins && c.id(0, x) == c.id(1, y)
}

// id returns the id of the function that an event of a side calls, or noID for none.
func (c *callComparison) id(side int, x *call) int {
	if x == nil {
		return noID
	}
	return c.sides[side].ids[x.function]
}

// meet reads on to where the sides do the same again after a fork, and reports whether they do. One side has a call that the
// other does not have; or both have another one; or else they meet after the function that is under way.
func (c *callComparison) meet(x, y *call, f *fork) bool {
	a, b := c.streams[0], c.streams[1]
	nextB := b.pass(y)
	if y != nextB && c.same(x, nextB) {
		f.next[0] = anyID
		a.back, b.back = x, nextB
		return true
	}
	nextA := a.pass(x)
	switch {
	case x != nextA && y != nextB && c.same(nextA, y):
		f.next[1] = anyID
		a.back, b.back = a.pass(nextA), nextB // the calls that are the same are not compared
		return true
	case x != nextA && c.same(nextA, y):
		f.next[1] = anyID
		a.back, b.back = nextA, y
		return true
	case c.same(nextA, nextB):
		a.back, b.back = nextA, nextB
		return true
	case len(c.stack) == 0:
		return false
	}
	a.leave(nextA)
	b.leave(nextB)
	c.stack = c.stack[:len(c.stack)-1]
	return true
}

// at returns a fork before the next events.
func (c *callComparison) at(x, y *call) forked {
	f := forked{fork: fork{under: noID, next: [2]int{noID, noID}}, calls: [2]*call{x, y}, begun: c.begun}
	f.stack = slices.Clone(c.stack[max(0, len(c.stack)-maxStack):])
	if len(c.stack) > 0 {
		f.under = c.sides[0].ids[c.stack[len(c.stack)-1][0]]
	}
	for i, one := range f.calls {
		if one != nil && one.begins {
			f.next[i] = c.id(i, one)
		}
	}
	return f
}

// add adds a fork, if it is the first at its place.
func (c *callComparison) add(f forked) {
	if !c.known[f.fork] && len(c.forks) < maxForks {
		c.known[f.fork] = true
		c.forks = append(c.forks, f)
	}
}

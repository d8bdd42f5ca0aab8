//go:build !js

package line

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

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

func (s *callStream) flush() {
	select {
	case s.batches <- s.batch:
	case <-s.stop:
	}
	s.batch = nil
}

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

// A fork is a place where the sides make different calls, or the same call with other numbers. It is the same value in each tick.
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

// meet reads on to where the sides do the same again: after a call of one side or of both, or after the function under way.
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

func (c *callComparison) add(f forked) {
	if !c.known[f.fork] && len(c.forks) < maxForks {
		c.known[f.fork] = true
		c.forks = append(c.forks, f)
	}
}

// compareMemory looks for the function in which the memory begins to differ, if no call differs. What c has found is the result
// if that is not possible: the addresses of the data must be the same on both sides.
func (s *moduleSearch) compareMemory(ctx context.Context, sides [2]*tracedSide, c *callComparison) error {
	m, one := c.memory, s.modules[0] == s.modules[1]
	if names := m.hidden(sides[0]); one && names != "" {
		s.result.Notes = append(s.result.Notes, "variables that differ before the tick: "+names)
	}
	watch := m.begun(m.places(sides, one))
	if len(watch[0]) == 0 {
		return nil
	}
	again, _, err := s.pass(ctx, sides, &watch)
	if err != nil {
		return err
	}
	for _, f := range again.forks {
		if f.kind == differentMemory {
			found := &Finding{Reason: Memory, Where: again.under(&f), Calls: f.begun, Path: again.path(&f), Hint: s.result.Finding.Hint}
			found.Text = describe(sides[0], watch[0][0])
			for i, b := range m.after {
				found.Values[i] = fmt.Sprint(b[watch[i][0]])
			}
			s.result.Finding = found
		}
	}
	return nil
}

// maxMemory is the largest memory of an instance that is compared, in bytes.
const maxMemory = 32 << 20

// maxWatched is how many bytes that begin to differ in the tick are watched. If more do, they say little.
const maxWatched = 4096

// memories are those of both sides, before and after Step.
type memories struct {
	before, after [2][]byte
}

// keep keeps the memory of a side at an event, if that is the first, and else as the last one.
func (m *memories) keep(side int, of *tracedSide, e module.Event) {
	if !of.rules.IsEntry(e.Function) {
		return
	}
	at := &m.after[side]
	if e.Begins {
		at = &m.before[side]
	}
	if all := of.observer.Memory(); len(all) <= maxMemory {
		*at = bytes.Clone(all)
	}
}

// A span is a part of the memory that holds the same data on both sides.
type span struct {
	at   [2]int
	size int
}

// places returns the memory to compare: all of it for one module, variables for two, nothing if addresses are unknown.
func (m *memories) places(sides [2]*tracedSide, one bool) (all []span) {
	if one && sides[0].rules.IsGo() {
		return nil // the heaps differ
	}
	size := len(m.before[0])
	for _, b := range [][]byte{m.before[1], m.after[0], m.after[1]} {
		size = min(size, len(b))
	}
	a, b := variablesOf(sides[0]), variablesOf(sides[1])
	if one || len(a) == 0 && m.alike(size) {
		return []span{{size: size}}
	}
	for name, v := range a {
		if w, ok := b[name]; ok && v.Size == w.Size && max(v.At, w.At)+v.Size <= size {
			all = append(all, span{[2]int{v.At, w.At}, v.Size})
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.at[0], b.at[0]) })
	return all
}

// variablesOf returns the variables of a side by their names, which no other one has.
func variablesOf(t *tracedSide) map[string]module.Variable {
	all, twice := map[string]module.Variable{}, map[string]bool{}
	for _, v := range t.rules.Variables {
		_, again := all[v.Name]
		all[v.Name], twice[v.Name] = v, twice[v.Name] || again
	}
	maps.DeleteFunc(all, func(name string, _ module.Variable) bool { return twice[name] })
	return all
}

// alike reports whether two modules have their data at the same addresses: nearly all bytes are equal before Step.
func (m *memories) alike(size int) bool {
	differ, used := 0, 0
	for i, a := range m.before[0][:size] {
		if a != m.before[1][i] {
			differ++
		}
		if a != 0 {
			used++
		}
	}
	return 64*differ <= used
}

// begun returns the addresses of the bytes that differ after Step but not before it; none if there are too many.
func (m *memories) begun(places []span) (all [2][]uint32) {
	for _, p := range places {
		for i := range p.size {
			x, y := p.at[0]+i, p.at[1]+i
			if m.before[0][x] != m.before[1][y] || m.after[0][x] == m.after[1][y] {
				continue
			}
			if len(all[0]) == maxWatched {
				return [2][]uint32{}
			}
			all[0], all[1] = append(all[0], uint32(x)), append(all[1], uint32(y))
		}
	}
	return all
}

// describe names an address of a side.
func describe(t *tracedSide, at uint32) string {
	for _, v := range t.rules.Variables {
		if n := int(at) - v.At; 0 <= n && n < v.Size {
			return fmt.Sprintf("byte %d of %s", n, v.Name)
		}
	}
	return fmt.Sprintf("the memory at %#x", at)
}

// hidden names the variables that differ before Step.
func (m *memories) hidden(t *tracedSide) string {
	var names []string
	for i := range t.rules.Variables {
		v := &t.rules.Variables[i]
		end := v.At + v.Size
		if end <= min(len(m.before[0]), len(m.before[1])) && !bytes.Equal(m.before[0][v.At:end], m.before[1][v.At:end]) {
			names = append(names, v.Name)
		}
	}
	if len(names) > maxUsual {
		names = append(names[:maxUsual], "others")
	}
	return strings.Join(names, ", ")
}

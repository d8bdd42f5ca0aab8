package locksteptest

import (
	"fmt"

	"github.com/seed-49bee653/samestep/desync/probe/program"
)

const (
	eachPhase = "each"
	eachMost  = 8 // goroutines at a time
)

// each computes the match with the elements of Turn.Each in other orders and on several goroutines. The match that was played first
// computed them one after the other.
func (r *trial) each() {
	used := false
	r.ordered(1, func(k, n int) int {
		used = true
		return program.Backwards(k, n)
	})
	if r.name("backwards"); !used || r.tracer != nil { // a recording needs one goroutine
		return
	}
	r.ordered(1, permuted)
	r.name("in a mixed order")
	for workers := 1; workers <= eachMost; workers++ {
		r.ordered(workers, ascending)
		r.name(fmt.Sprintf("on %d goroutines", workers))
	}
}

// ordered computes the match from its beginning on a schedule, unless there is an error.
func (r *trial) ordered(workers int, order func(k, n int) int) {
	if r.err != nil {
		return
	}
	sim := r.simulation()
	if r.err != nil {
		return
	}
	sim.Schedule(workers, order)
	for t := range r.options.Ticks {
		r.step(sim, t)
		r.same(sim)
	}
}

// name says in the failure under which schedule it was found.
func (r *trial) name(schedule string) {
	if f, ok := r.err.(*Failure); ok && f.Under == "" {
		f.Under = "the elements of Turn.Each " + schedule
	}
}

func ascending(k, _ int) int { return k }

// permuted returns the k-th element of an order in which neighbours are far from each other.
func permuted(k, n int) int {
	if k >= n {
		return n
	}
	stride := n*5/8 | 1
	for divisor(stride, n) > 1 {
		stride += 2
	}
	return int((uint64(k)*uint64(stride) + uint64(n/3)) % uint64(n))
}

// divisor returns the greatest common divisor.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}


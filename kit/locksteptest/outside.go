package locksteptest

import "github.com/seed-49bee653/samestep/internal/elsewhere"

// A surrounding is one thing that another machine has in another way.
type surrounding struct {
	name   string
	change func() (undo func(), err error)
}

var surroundings = [...]surrounding{
	{"another time zone (time.Local)", func() (func(), error) { return elsewhere.Zone(), nil }},
	{"other environment variables (" + elsewhere.Names + ")", elsewhere.Variables},
}

// outside computes the match once under each of the other surroundings. They are those of a whole process, so only a process that does
// nothing else does so: one that Check starts.
func (r *trial) outside() {
	if !r.alone {
		return
	}
	for _, s := range surroundings {
		undo, err := s.change()
		if r.ok(0, err) {
			r.again()
		}
		undo()
		if f, ok := r.err.(*Failure); ok {
			if r.tracer != nil {
				return // it has recorded this one
			}
			control := &trial{match: r.match, phase: r.phase}
			if control.again(); control.err == nil { // else it is not because of the surrounding
				f.Under = s.name
			}
			return
		}
	}
}

// again computes the match from its beginning.
func (r *trial) again() {
	sim := r.simulation()
	if r.err != nil {
		return
	}
	r.same(sim)
	for t := range r.options.Ticks {
		r.step(sim, t)
		r.same(sim)
	}
}

package locksteptest

import (
	"errors"
	"os"
	"time"
)

// A surrounding is one thing that another machine has in another way.
type surrounding struct {
	name   string
	change func() (undo func(), err error)
}

var surroundings = [...]surrounding{
	{"another time zone (time.Local)", otherZone},
	{"other environment variables (HOME, LANG, LC_ALL, TZ, USER)", otherVariables},
}

// otherZone changes time.Local to a zone that is hours away.
func otherZone() (undo func(), err error) {
	local := time.Local
	_, offset := time.Unix(0, 0).Zone()
	time.Local = time.FixedZone("ELSEWHERE", (offset+39*3600)%(24*3600)-12*3600+1800) // half a day away, and half an hour
	return func() { time.Local = local }, nil
}

func otherVariables() (undo func(), err error) {
	var restore []func() error
	for _, name := range []string{"HOME", "LANG", "LC_ALL", "TZ", "USER"} {
		if old, ok := os.LookupEnv(name); ok {
			restore = append(restore, func() error { return os.Setenv(name, old) })
		} else {
			restore = append(restore, func() error { return os.Unsetenv(name) })
		}
		err = errors.Join(err, os.Setenv(name, "elsewhere"))
	}
	return func() {
		for _, f := range restore {
			f() // what was there can be set again
		}
	}, err
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

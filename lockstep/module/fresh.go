package module

import "github.com/seed-49bee653/samestep/lockstep/abi"

// Fresh returns a machine of the same rules. Each of its callers has an instance of its own, which nobody has used.
func (r *Rules) Fresh() abi.Machine {
	f := newFresh(r)
	return &f
}

func newFresh(r *Rules) fresh {
	return fresh{instance: func() (*instance, error) { return r.newInstance(nil) }, pool: &pool{once: true}}
}

type fresh struct {
	instance func() (*instance, error)
	*pool
}

// New implements [abi.Machine].
func (f *fresh) New() (abi.Caller, error) { return f.caller(f.instance) }

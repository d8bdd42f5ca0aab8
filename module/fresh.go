package module

import "github.com/seed-49bee653/samestep/lockstep/abi"

// Fresh returns a machine of the same rules, within a budget unless it is nil. Each of its callers has an instance of its own, which
// nobody has used.
func (r *Rules) Fresh(b *Budget) abi.Machine {
	f := newFresh(r, b)
	return &f
}

func newFresh(r *Rules, b *Budget) fresh {
	return fresh{instance: func() (*instance, error) { return r.newInstance(b) }, pool: &pool{once: true}}
}

type fresh struct {
	instance func() (*instance, error)
	*pool
}

// New implements [abi.Machine].
func (f *fresh) New() (abi.Caller, error) { return f.caller(f.instance) }

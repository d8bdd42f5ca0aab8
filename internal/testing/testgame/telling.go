package testgame

import "github.com/seed-49bee653/samestep/lockstep/abi"

// A Telling machine has the rules of Views, except that Judge answers to commands, by the whole state: as a rules module may do that breaks
// its promise. Both have the same state.
type Telling struct{ Views, Judge abi.Machine }

// New implements [abi.Machine].
func (m Telling) New() (abi.Caller, error) {
	views, err := m.Views.New()
	if err != nil {
		return nil, err
	}
	judge, err := m.Judge.New()
	return &teller{views: views, judge: judge}, err
}

type teller struct {
	views, judge abi.Caller
	same         bool // the judge has the state
}

// Call implements [abi.Caller].
func (c *teller) Call(f abi.Function, in []byte) ([]byte, error) {
	switch f {
	case abi.Configure, abi.Load:
		if out, err := c.judge.Call(f, in); err != nil {
			return out, err
		}
	case abi.Create, abi.Restore, abi.Step:
		c.same = false
	case abi.Validate:
		if c.same {
			return c.judge.Call(f, in)
		}
		world, err := c.views.Call(abi.Save, nil)
		if err == nil {
			_, err = c.judge.Call(abi.Restore, abi.States.Append(nil, &abi.State{Canonical: world}))
		}
		if err != nil {
			return nil, err
		}
		c.same = true
		return c.judge.Call(f, in)
	}
	return c.views.Call(f, in)
}

// Close implements [abi.Caller].
func (c *teller) Close() {
	c.views.Close()
	c.judge.Close()
}

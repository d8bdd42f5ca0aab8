package desync

import (
	"bytes"
	"errors"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// errControl ends trials whose control does not end in the right state.
var errControl = errors.New("desync: with nothing changed, the ticks come out otherwise")

// A control is a trial with nothing changed. It is made in the same way: from the state of the same tick, and in a new
// simulation if the configuration changes.
type control struct {
	from   lockstep.Tick
	config bool
}

// control plays the control of a variation, once. It returns errControl if a state differs from the right one: then what the
// variation leads to says nothing, and neither does any other.
func (s *search) control(v *variation) error {
	c := control{v.from, v.config != nil}
	if s.controls[c] {
		return nil
	}
	same := variation{from: v.from}
	if c.config {
		same.config = s.again.header.Config
	}
	b, err := s.play(&same, s.bad, func(t lockstep.Tick, b []byte) bool {
		if bytes.Equal(b, s.again.state(t)) {
			return true
		}
		s.parted = &parting{tick: t, again: true, other: slices.Clone(b)}
		return false
	})
	switch {
	case err != nil:
		return err
	case b == nil && s.parted == nil: // the rules failed
		s.parted = &parting{tick: v.from + 1, again: true}
	}
	if s.parted != nil {
		return errControl
	}
	if s.controls == nil {
		s.controls = make(map[control]bool)
	}
	s.controls[c] = true
	return nil
}

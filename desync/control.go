package desync

import (
	"bytes"
	"errors"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// errControl ends trials whose control does not end in the right state.
var errControl = errors.New("desync: with nothing changed, the ticks come out otherwise")

// control plays the ticks of a variation with nothing changed, but in the same way: from the state of the same tick, and in a
// new simulation if the configuration changes. It returns errControl if a state differs from the right one: then what the
// variation leads to says nothing, and neither does any other.
func (s *search) control(v *variation) error {
	same := variation{from: v.from}
	if v.config != nil {
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
	return nil
}

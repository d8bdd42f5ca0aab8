package desync

import (
	"bytes"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A CauseKind is a kind of fault.
type CauseKind string

// The kinds of faults that the trials cover.
const (
	LostCommand    CauseKind = "lost command"
	DoubledCommand CauseKind = "doubled command"
	MovedCommand   CauseKind = "moved command"
	SwappedOrder   CauseKind = "wrong order"
	ExtraDraw      CauseKind = "extra draw"
	AlteredField   CauseKind = "altered field"
)

// A Cause is a single fault that leads from the last good state to exactly the wrong one, bit by bit.
type Cause struct {
	Kind    CauseKind `json:"kind"`
	Text    string    `json:"text"`
	When    Span      `json:"when"`              // the first divergent tick, or several that cannot be told apart
	Command *Command  `json:"command,omitempty"` // nil if the fault is not one of a command
	Path    string    `json:"path,omitempty"`    // of the field or the generator
	Right   string    `json:"right,omitempty"`   // an altered field's value on the right side, and on the wrong side
	Wrong   string    `json:"wrong,omitempty"`
	Others  []string  `json:"others,omitempty"` // faults of other commands that lead to the same state
	fault   variation
	ends    lockstep.Tick // the tick of the wrong state that it leads to
}

// A search looks for the cause: the fault that leads from the state of tick good to the wrong state of tick bad.
type search struct {
	*tester
	good, bad lockstep.Tick
	wrong     []byte
	describe  func(*lockstep.Command) Command
	found     *Cause
}

// fits plays a variation and reports whether it ends in the wrong state.
func (s *search) fits(v *variation) (bool, error) {
	b, err := s.play(v, s.bad, nil)
	return err == nil && b != nil && bytes.Equal(b, s.wrong), err
}

// share lets f spend at most part ticks of the budget.
func (s *search) share(part int, f func() error) error {
	rest := s.left - part
	s.left = part
	err := f()
	s.left += rest
	return err
}

// first returns the first tick at which a variation's state differs from the right one.
func (s *search) first(v *variation) (lockstep.Tick, error) {
	first := s.bad
	_, err := s.play(v, s.bad, func(t lockstep.Tick, b []byte) {
		if t < first && !bytes.Equal(b, s.again.state(t)) {
			first = t
		}
	})
	return first, err
}

package desync

import (
	"bytes"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A CauseKind says what kind of fault it was.
type CauseKind string

// The kinds of faults that trials look for.
const (
	LostCommand    CauseKind = "lost command"
	DoubledCommand CauseKind = "doubled command"
	MovedCommand   CauseKind = "moved command"
	SwappedOrder   CauseKind = "wrong order"
	ExtraDraw      CauseKind = "extra draw"
	AlteredField   CauseKind = "altered field"
)

// A Cause is a single fault that leads from the last good state to exactly the
// wrong one, bit by bit.
type Cause struct {
	Kind    CauseKind `json:"kind"`
	Text    string    `json:"text"`
	When    Span      `json:"when"`              // the first divergent tick; several if they cannot be told apart
	Command *Command  `json:"command,omitempty"` // of faults with a command
	Path    string    `json:"path,omitempty"`    // of the field or the generator
	Right   string    `json:"right,omitempty"`   // value of an altered field, before and after
	Wrong   string    `json:"wrong,omitempty"`
	Others  []string  `json:"others,omitempty"` // faults with other commands that lead to the same state
	fault   variation
	ends    lockstep.Tick // whose wrong state it leads to
}

// A search looks for the cause: what leads from the state of tick good to the
// wrong state of tick bad.
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

// commands tries faults with single commands.
func (s *search) commands() error {
	type fault struct {
		kind CauseKind
		vary func(f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame
		text string
	}
	moved := func(by int) func(f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame {
		return func(f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame {
			to := f.Tick + lockstep.Tick(by)
			if to <= s.good || to > s.bad {
				return nil
			}
			other := s.again.frame(to)
			return map[lockstep.Tick]*lockstep.Frame{f.Tick: without(f, i), to: with(&other, f.Commands[i])}
		}
	}
	for _, x := range []fault{
		{LostCommand, func(f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame {
			return map[lockstep.Tick]*lockstep.Frame{f.Tick: without(f, i)}
		}, "a command did not run"},
		{DoubledCommand, func(f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame {
			return map[lockstep.Tick]*lockstep.Frame{f.Tick: doubled(f, i)}
		}, "a command ran twice"},
		{SwappedOrder, func(f *lockstep.Frame, i int) map[lockstep.Tick]*lockstep.Frame {
			if i+1 == len(f.Commands) {
				return nil
			}
			return map[lockstep.Tick]*lockstep.Frame{f.Tick: swapped(f, i)}
		}, "a command ran after the one that follows it"},
		{MovedCommand, moved(1), "a command ran one tick too late"},
		{MovedCommand, moved(-1), "a command ran one tick too early"},
		{MovedCommand, moved(2), "a command ran two ticks too late"},
	} {
		for t := s.good + 1; t <= s.bad; t++ {
			f := s.again.frame(t)
			for i := range f.Commands {
				frames := x.vary(&f, i)
				if frames == nil {
					continue
				}
				v := variation{from: t - 1, frames: frames}
				if frames[t-1] != nil {
					v.from = t - 2
				}
				if ok, err := s.fits(&v); err != nil {
					return err
				} else if ok {
					if err := s.command(x.kind, x.text, &f.Commands[i], v); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (s *search) command(kind CauseKind, text string, c *lockstep.Command, v variation) error {
	first, err := s.first(&v)
	if err != nil {
		return err
	}
	command := s.describe(c)
	text = fmt.Sprintf("%s: tick %d, %s", text, c.Tick, command.Text)
	if s.found == nil {
		s.found = &Cause{Kind: kind, Text: text, Command: &command, When: Span{first, first}, fault: v}
		return nil
	}
	s.found.When = Span{min(s.found.When.From, first), max(s.found.When.To, first)}
	if len(s.found.Others) < maxOthers {
		s.found.Others = append(s.found.Others, text)
	}
	return nil
}

const maxOthers = 8

// first returns the first tick at which a variation shows.
func (s *search) first(v *variation) (lockstep.Tick, error) {
	first := s.bad
	_, err := s.play(v, s.bad, func(t lockstep.Tick, b []byte) {
		if t < first && !bytes.Equal(b, s.again.state(t)) {
			first = t
		}
	})
	return first, err
}

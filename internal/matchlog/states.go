package matchlog

import (
	"fmt"

	"github.com/seed-49bee653/samestep/state"
)

// States joins the parts of the states in a match, and compares them with their schema.
type States struct {
	Schema *state.Schema

	dump  Entry              // the state of which parts are missing, if missing
	open  bool               // there is one
	known map[[2]uint32]bool // ticks and players
}

// Join takes the next entry. If that is the last part of a state, e becomes the whole state.
func (s *States) Join(e *Entry) error {
	if s.open && (!e.Dump || e.Tick != s.dump.Tick || e.Player != s.dump.Player) {
		return fmt.Errorf("want the next part of the state of tick %d of player %d", s.dump.Tick, s.dump.Player)
	}
	if !e.Dump {
		return nil
	}
	if len(s.dump.State)+len(e.State) > MaxState {
		return fmt.Errorf("the state of tick %d has more than %d bytes", e.Tick, MaxState)
	}
	if s.open || e.More {
		s.dump = Entry{Tick: e.Tick, Player: e.Player, State: append(s.dump.State, e.State...)}
	}
	if s.open = e.More; s.open {
		return nil
	}
	if s.dump.State != nil {
		e.State, s.dump = s.dump.State, Entry{}
	}
	return s.add(e)
}

// add takes a whole state.
func (s *States) add(e *Entry) error {
	if s.known == nil {
		s.known = make(map[[2]uint32]bool)
	}
	at := [2]uint32{e.Tick, uint32(e.Player)}
	switch {
	case s.known[at]:
		return fmt.Errorf("got a second state of tick %d of player %d", e.Tick, e.Player)
	case len(s.known) == maxStates:
		return fmt.Errorf("want at most %d states", maxStates)
	}
	s.known[at] = true
	if err := s.Schema.Validate(e.State); err != nil {
		return fmt.Errorf("the state of tick %d does not have the type in the header: %.300v", e.Tick, err)
	}
	return nil
}

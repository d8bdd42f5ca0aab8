package main

import "fmt"

const (
	inputDelay = 2  // ticks between a button and its effect
	window     = 16 // ticks that a state is kept
)

// A session runs a match with inputs that come late. It predicts that the other player goes on with the same buttons, and
// computes again from the tick in which that was wrong.
type session struct {
	me        int
	now       *Duel
	saved     [window]*Duel    // the states of the latest ticks, by tick
	inputs    [2][]uint8       // by player and tick; a later tick has no input yet
	used      [window][2]uint8 // the inputs with which the latest ticks were computed
	confirmed uint32           // the latest tick whose state has no predicted input
	rollbacks int

	confirm func(after *Duel, inputs [2]uint8) // gets the state after each tick once, in order, when both inputs are known
	forget  bool                               // a mistake: a state is restored without the ships' cooldowns
}

func newSession(me int) *session {
	s := &session{me: me, now: newDuel()}
	for p := range s.inputs {
		s.inputs[p] = make([]uint8, inputDelay) // nobody presses a button before the match
	}
	s.saved[0] = s.now.clone()
	return s
}

// known returns the number of ticks whose inputs of a player are known.
func (s *session) known(player int) uint32 { return uint32(len(s.inputs[player])) }

// input returns a player's input of a tick, or a prediction.
func (s *session) input(player int, tick uint32) uint8 {
	if n := s.known(player); tick >= n {
		tick = n - 1
	}
	return s.inputs[player][tick]
}

// add adds the next known input of a player.
func (s *session) add(player int, input uint8) { s.inputs[player] = append(s.inputs[player], input) }

// advance runs the next tick, after the ticks that were predicted wrong.
func (s *session) advance() error {
	s.correct()
	if s.now.Tick-s.confirmed >= window-1 {
		return fmt.Errorf("the other player is %d ticks late, want at most %d", s.now.Tick-s.confirmed, window-2)
	}
	s.step()
	s.correct()
	return nil
}

// correct computes again from the first tick with a wrong input, and confirms the ticks whose inputs are all known.
func (s *session) correct() {
	known := min(s.known(0), s.known(1), s.now.Tick)
	for t := s.confirmed; t < known; t++ {
		if right := [2]uint8{s.input(0, t), s.input(1, t)}; s.used[t%window] != right {
			s.rollBack(t)
			break
		}
	}
	for ; s.confirmed < known; s.confirmed++ {
		t := s.confirmed
		s.confirm(s.saved[(t+1)%window], s.used[t%window])
	}
}

// rollBack computes the ticks after t again.
func (s *session) rollBack(t uint32) {
	s.rollbacks++
	end, old := s.now.Tick, s.now
	s.now = s.saved[t%window].clone()
	if s.forget {
		for p := range s.now.Ships {
			s.now.Ships[p].Cooldown = old.Ships[p].Cooldown
		}
	}
	for s.now.Tick < end {
		s.step()
	}
}

func (s *session) step() {
	t := s.now.Tick
	inputs := [2]uint8{s.input(0, t), s.input(1, t)}
	s.used[t%window] = inputs
	s.now.step(inputs)
	s.saved[s.now.Tick%window] = s.now.clone()
}

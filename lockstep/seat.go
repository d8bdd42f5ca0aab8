package lockstep

// window is how many sequences of a player are remembered, and how far ahead
// of the highest one a new one may be.
const window = 256

// A seat is what the coordinator knows of one player.
type seat struct {
	present bool
	away    bool     // lost or taken over
	blank   bool     // has no state at the moment, and so no checksums
	joined  Tick     // commands run after this tick
	left    Tick     // of the latest Left
	high    Sequence // highest sequence that was decided
	sealed  Sequence // highest sequence in a sealed frame
	last    Tick     // the latest tick that holds a command of this player

	// receipts holds the last window decisions, at sequence % window. Those of
	// a slot's other sequences have been forgotten.
	receipts [window]Receipt
}

// receipt returns what was decided about seq, if it is remembered.
func (s *seat) receipt(seq Sequence) (Receipt, bool) {
	r := s.receipts[seq%window]
	return r, r.Sequence == seq && seq != 0
}

// remember keeps a decision.
func (s *seat) remember(r Receipt) Receipt {
	s.receipts[r.Sequence%window] = r
	s.high = max(s.high, r.Sequence)
	return r
}

// order returns the reason why seq cannot be decided any more or yet, if any.
func (s *seat) order(seq Sequence) Reason {
	switch {
	case seq <= s.sealed || s.high >= window && seq <= s.high-window:
		return StaleCommand
	case uint64(seq) > uint64(s.high)+window:
		return TooFarAhead
	}
	return Accepted
}

// place returns the tick nearest to t that keeps the player's commands in the
// order of their sequences, given those that wait already.
func (s *seat) place(seq Sequence, t Tick) Tick {
	t = max(t, s.joined+1)
	q := seq - 1
	for ; q > s.sealed && seq-q < window; q-- {
		if r, ok := s.receipt(q); ok && r.Reason == Accepted {
			t = max(t, r.Tick)
			break
		}
	}
	if q > s.sealed && seq-q == window {
		t = max(t, s.last) // of those before it that were accepted the receipts may be forgotten
	}
	for q := seq + 1; q <= s.high && q > seq; q++ {
		if r, ok := s.receipt(q); ok && r.Reason == Accepted {
			return min(t, r.Tick)
		}
	}
	return t
}

package coordinator

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A seat is the coordinator's state of one player.
type seat struct {
	present     bool
	away        bool              // lost or taken over
	awaitsState bool              // has no state now, and so reports no checksums
	joined      lockstep.Tick     // commands run after this tick
	left        lockstep.Tick     // of the latest Left
	high        lockstep.Sequence // highest decided sequence
	sealed      lockstep.Sequence // highest sequence in a sealed frame
	last        lockstep.Tick     // the latest tick that holds a command of this player

	// receipts holds the last CommandWindow decisions, at sequence % CommandWindow. A newer sequence replaces an older
	// one in its slot.
	receipts [record.CommandWindow]lockstep.Receipt
}

// receipt returns the decision about seq, if it is remembered.
func (s *seat) receipt(seq lockstep.Sequence) (lockstep.Receipt, bool) {
	r := s.receipts[seq%record.CommandWindow]
	return r, r.Sequence == seq && seq != 0
}

func (s *seat) remember(r lockstep.Receipt) lockstep.Receipt {
	s.receipts[r.Sequence%record.CommandWindow] = r
	s.high = max(s.high, r.Sequence)
	return r
}

// order returns Accepted, or the reason why seq can no longer or not yet be decided.
func (s *seat) order(seq lockstep.Sequence) lockstep.Reason {
	switch {
	case seq <= s.sealed || s.high >= record.CommandWindow && seq <= s.high-record.CommandWindow:
		return lockstep.StaleCommand
	case uint64(seq) > uint64(s.high)+record.CommandWindow:
		return lockstep.TooFarAhead
	}
	return lockstep.Accepted
}

// place returns the tick nearest to t that keeps the player's waiting commands in the order of their sequences.
func (s *seat) place(seq lockstep.Sequence, t lockstep.Tick) lockstep.Tick {
	t = max(t, s.joined+1)
	q := seq - 1
	for ; q > s.sealed && seq-q < record.CommandWindow; q-- {
		if r, ok := s.receipt(q); ok && r.Reason == lockstep.Accepted {
			t = max(t, r.Tick)
			break
		}
	}
	if q > s.sealed && seq-q == record.CommandWindow {
		t = max(t, s.last) // receipts of earlier accepted commands may be forgotten
	}
	for q := seq + 1; q <= s.high && q > seq; q++ {
		if r, ok := s.receipt(q); ok && r.Reason == lockstep.Accepted {
			return min(t, r.Tick)
		}
	}
	return t
}

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
	windows     []window          // by limit; nil before the first limited command

	// receipts holds the last CommandWindow decisions, at sequence % len. A newer sequence replaces an older one in its
	// slot. It grows up to CommandWindow, since most players give few commands.
	receipts []lockstep.Receipt
}

// receipt returns the decision about seq, if it is remembered.
func (s *seat) receipt(seq lockstep.Sequence) (lockstep.Receipt, bool) {
	if len(s.receipts) == 0 {
		return lockstep.Receipt{}, false
	}
	r := s.receipts[seq%lockstep.Sequence(len(s.receipts))]
	return r, r.Sequence == seq && seq != 0
}

func (s *seat) remember(r lockstep.Receipt) lockstep.Receipt {
	s.keep(r)
	s.high = max(s.high, r.Sequence)
	return r
}

// keep puts r into its slot. If a decision that is not forgotten is there, it makes more slots first.
func (s *seat) keep(r lockstep.Receipt) {
	for len(s.receipts) < record.CommandWindow {
		if len(s.receipts) > 0 {
			old := s.receipts[r.Sequence%lockstep.Sequence(len(s.receipts))]
			if old.Sequence == 0 || old.Sequence == r.Sequence || old.Sequence+record.CommandWindow <= r.Sequence {
				break
			}
		}
		all := s.receipts
		s.receipts = make([]lockstep.Receipt, max(8, 2*len(all)))
		for _, old := range all {
			if old.Sequence != 0 { // no command has this number
				s.receipts[old.Sequence%lockstep.Sequence(len(s.receipts))] = old
			}
		}
	}
	s.receipts[r.Sequence%lockstep.Sequence(len(s.receipts))] = r
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

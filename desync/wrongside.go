package desync

import (
	"bytes"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A wrongSide is what is known of the wrong side beside its first state that differs. A cause must lead to all of it: a lost
// command and a late one lead to the same state at first. An answer of the machine excludes causes, and confirms none.
type wrongSide struct {
	since  lockstep.Tick            // the last check at which the sides agreed
	exact  lockstep.Tick            // the first tick at which the machine differed, if it says so; else 0
	states map[lockstep.Tick][]byte // from the first that differs on; only looked up
	hashes map[lockstep.Tick]string // of the states that the machine computed again, with the same result; only looked up
	last   lockstep.Tick            // of the states
}

// wrongSide returns what is known of the wrong side.
func (w *work) wrongSide() wrongSide {
	k := wrongSide{since: max(w.since, w.again.first), states: w.later, last: w.bad}
	for t := range w.later { // the order does not matter
		k.last = max(k.last, t)
	}
	a := w.e.Again
	if a == nil {
		return k
	}
	if k.exact = a.exact(); a.outcome == protocol.WrongTheSameWay {
		k.hashes = make(map[lockstep.Tick]string)
		for i, h := range w.manifest.Resimulation.Runs[0] {
			k.hashes[a.From+1+lockstep.Tick(i)] = h
		}
	}
	return k
}

// end returns the tick up to which a cause is judged.
func (k *wrongSide) end() lockstep.Tick { return k.last }

// fits plays a variation and reports whether it leads to all that is known of the wrong side.
func (s *search) fits(v *variation) (bool, error) {
	begin := v.from // the first tick that it can change
	if v.state == nil {
		begin++
	}
	if begin > s.bad || s.exact > 0 && begin > s.exact || v.from == s.bad && !bytes.Equal(v.state, s.wrong) {
		return false, nil
	}
	last := v.last()
	b, err := s.play(v, s.end(), func(t lockstep.Tick, b []byte) bool { return s.allows(v, last, t, b) })
	if err != nil || b == nil || len(s.hashes) == 0 {
		return b != nil, err
	}
	b, err = s.play(v, s.end(), s.computedAgain)
	return b != nil, err
}

// allows reports whether a variation, whose frames differ up to tick last, may have the state b after tick t. Of ticks of which
// nothing is known it allows all but the right state, from which nothing wrong follows.
func (s *search) allows(v *variation, last, t lockstep.Tick, b []byte) bool {
	right := bytes.Equal(b, s.again.state(t))
	switch known := s.states[t]; {
	case t == s.good:
		return right
	case t < s.good:
		return right || s.exact == 0 || v.config != nil
	case known != nil:
		return bytes.Equal(b, known)
	case t == s.exact:
		return !right
	}
	return !right || t < last || v.config != nil
}

// computedAgain reports whether b is the state that the machine computed again after tick t, if it did.
func (s *search) computedAgain(t lockstep.Tick, b []byte) bool {
	want, known := s.hashes[t]
	if !known {
		return true
	}
	var sum checksum.Sum
	err := checksum.OfBytes(&sum, s.again.game.StateSchema(), b)
	return err == nil && checksum.FormatHash(sum.Hash) == want
}

package player

import "github.com/seed-49bee653/samestep/lockstep"

// visibleStall is how long the picture stands still until its user sees it.
const visibleStall = 100 * lockstep.Millisecond

// smoothness counts what the user of a client sees of a bad connection.
type smoothness struct {
	watched     lockstep.Time // for how long the match has run
	stood       lockstep.Time // for how long the picture has stood still, up to now
	stalls      int           // times that it stood still for longer than visibleStall
	corrections int           // times that a state on display was replaced by another one of the same tick, because of the connection
	rollbacks   int           // times that the prediction began again, for any reason
}

// pass counts a time in which the match has run, and at whose end the picture stood still for a part of it.
func (s *smoothness) pass(elapsed, still lockstep.Time) {
	s.watched += elapsed
	if still < elapsed {
		s.stood = 0
	}
	if before := s.stood; still > 0 {
		s.stood += still
		if before <= visibleStall && s.stood > visibleStall {
			s.stalls++
		}
	}
}

package server

import (
	"net/netip"
	"time"
)

// guessPeriod is the time in which the wrong tokens and sessions of an address refill.
const guessPeriod = time.Minute

// countGuess counts a wrong token or session, and reports false if the address has spent its budget.
func (s *Server) countGuess(from netip.Prefix, remote string) bool {
	ok := s.guesses.spend(from, 1, time.Now())
	if !ok {
		s.turnedAway("guessing", remote)
	}
	return ok
}

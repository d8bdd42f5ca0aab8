package server

import (
	"net/netip"
	"time"
)

// countGuess counts a wrong token or session, and reports false if the address has spent its budget.
func (s *Server) countGuess(from netip.Prefix, remote string) bool {
	ok := s.gates.guesses.Spend(from, 1, time.Now())
	if !ok {
		s.turnedAway("guessing", remote)
	}
	return ok
}

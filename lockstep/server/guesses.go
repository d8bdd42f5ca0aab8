package server

import (
	"net/netip"
	"time"
)

// The wrong tokens and sessions of an address have a budget of maxGuesses, which refills over guessPeriod.
const (
	maxGuesses  = 20
	guessPeriod = time.Minute
)

// countGuess counts a wrong token or session, and reports false if the address has spent its budget.
func (s *Server) countGuess(from netip.Prefix) bool {
	ok := s.guesses.spend(from, 1, time.Now())
	if !ok {
		s.metrics.refused.WithLabelValues("guessing").Inc()
	}
	return ok
}

package server

import (
	"net/netip"
	"time"
)

// countGuess counts a wrong token or session, and reports false if the address has spent its budget.
func (ac *access) countGuess(from netip.Prefix, remote string) bool {
	ok := ac.gates.guesses.Spend(from, 1, time.Now())
	if !ok {
		ac.turned.away("guessing", remote)
	}
	return ok
}

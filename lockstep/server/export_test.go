package server

import (
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// A File is what a replay is written to.
type File = file

// SetNewFile makes replays be written to what f returns.
func (s *Server) SetNewFile(f func(path string) (File, error)) { s.newFile = f }

// Evidence gives the match what a Host has collected about a desync. It belongs
// into the match's goroutine.
func (m *Match) Evidence(e *host.Evidence) { m.evidence(e) }

// The terms of MemoryBound.
const (
	StrangerMemory = strangerMemory
	PeerMemory     = peerMemory
	BudgetMemory   = budgetMemory
	FixedMemory    = (maxUnauthenticated+maxSockets)*strangerMemory + budgetTables*maxBudgets*budgetMemory
)
const MaxRevoked = maxRevoked

// Members returns how many connections the server counts as welcomed.
func (s *Server) Members() int {
	s.authenticated.mu.Lock()
	defer s.authenticated.mu.Unlock()
	n := 0
	for _, all := range s.authenticated.conns {
		n += len(all)
	}
	return n
}

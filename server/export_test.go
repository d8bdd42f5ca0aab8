package server

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server/internal/allowance"
)

// An error of the HTTP interface, and the status of each code.
type (
	Code    = code
	Problem = apiProblem
)

var Statuses = statuses

// A File is the file of a replay.
type File = file

// SetNewFile makes the server write replays to the files of f.
func (s *Server) SetNewFile(f func(path string) (File, error)) { s.newFile = f }

// Evidence passes a desync's evidence to the match, in the match's goroutine.
func (m *Match) Evidence(e *host.Evidence) { m.evidence(e) }

// The terms of MemoryBound.
const (
	ConnMemory   = connMemory
	PeerMemory   = peerMemory
	PathMemory   = pathMemory
	BudgetMemory = budgetMemory
	FixedMemory  = (maxUnauthenticated+maxSockets+2*maxSilent+maxHandshakes)*connMemory + budgetTables*allowance.MaxKeys*budgetMemory
)
const MaxRevoked = maxRevoked

// Members returns the number of authenticated connections.
func (s *Server) Members() int {
	s.gates.authenticated.mu.Lock()
	defer s.gates.authenticated.mu.Unlock()
	n := 0
	for _, all := range s.gates.authenticated.conns {
		n += len(all)
	}
	return n
}

// Told returns the tick that a reader may know, and whether it may know the figures.
func (v *Status) Told(r disclosure.Reader) (tick lockstep.Tick, figures bool) {
	t := v.told(r)
	return t.Tick, t.Stats.figures != nil
}

// SetFreeBytes makes f measure the free bytes of the disk.
func (s *Server) SetFreeBytes(f func(dir string) (int64, bool)) { s.storage.free = f }

// AuthorizeIn returns the grant of a token in a match.
func (s *Server) AuthorizeIn(token, match string) (host.Grant, error) {
	return s.access.authorize(token, match)
}

// Codes of closed paths of datagrams.
const (
	PathUnbound = pathUnbound
	PathClosed  = pathClosed
	PathCrowd   = pathCrowd
)

// MaxHalfOpenEach is the number of unfinished QUIC handshakes of an address.
const MaxHalfOpenEach = maxHandshakesEach

// HalfOpen returns the number of unfinished QUIC handshakes.
func (s *Server) HalfOpen() int { return s.gates.halfOpen.All() }

// SweepEvery is the period of sweeps of bans and revocations, and StaleAfter is how long they stay when they are over.
const (
	SweepEvery = sweepEvery
	StaleAfter = staleAfter
)

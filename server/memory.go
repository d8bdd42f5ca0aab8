package server

import (
	"github.com/seed-49bee653/samestep/server/internal/allowance"
	"github.com/seed-49bee653/samestep/server/internal/crowd"
)

// Memory of live objects and stacks, in bytes. docs/limits.md has the formula.
const (
	// serverMemory is for a server without matches and connections.
	serverMemory = 4 << 20

	// budgetMemory is for one address in each of budgetTables tables of budgets.
	budgetMemory = 256
	budgetTables = 10

	// connMemory is for a connection that is not authenticated, or not a WebSocket: goroutines, buffers, TLS, and
	// the header of a request. It is also for a QUIC handshake.
	connMemory = 64 << 10

	// messageMemory is for a received message of a client.
	messageMemory = 80 << 10

	// pathMemory is for a path of datagrams: a QUIC connection with its goroutines, keys, windows and queues.
	pathMemory = 256 << 10

	// peerMemory is for an authenticated connection: a message that is read, one that waits for the match, and twice
	// the messages of the server that may wait for its socket, because their buffer grows in steps.
	peerMemory = connMemory + 2*messageMemory + (2*maxQueued+2)*maxWrite

	// matchMemory is for a match without its state and its connections: the writer of its replay, and frames.
	matchMemory = 6 << 20

	// gameCopies is the number of copies of the state in a match, including what a game keeps besides its state, and four that
	// wait for a disk that does not answer, but
	// without the host.Options.EvidenceHistory copies.
	gameCopies = 28
)

// MemoryBound returns the most bytes that live objects and stacks of the server take with its present matches and the
// present size of their states. With the default settings of Go's garbage collector the process may use twice as many.
func (s *Server) MemoryBound() int {
	sum := serverMemory + s.gates.memory()
	for _, m := range s.registry.running() {
		sum += int(m.memoryBound.Load())
	}
	return sum
}

// updateMemoryBound updates the match's part of MemoryBound. The match's goroutine calls it.
func (m *Match) updateMemoryBound(stateBytes int) {
	peers := int(m.spec.Settings.Players) + m.maxSpectators
	listed := 0
	for _, a := range m.assets {
		listed += int(a.Size)
	}
	m.memoryBound.Store(int64(m.host.Info().MemoryBound(stateBytes) + int(m.spec.Settings.Players)*pathMemory + peers*peerMemory + inboxSize*messageMemory + matchMemory + (gameCopies+m.history)*stateBytes + listed))
}

// memory returns the most bytes that connections without a match take, and the tables of budgets.
func (g *gates) memory() int {
	conns := g.unauthenticated.Most() + g.sockets.Most() + g.silent.Most() + g.onTrial.Most() + g.reserved.Most() + crowd.MaxHandshakes
	return conns*connMemory + g.paths.Most()*pathMemory + budgetTables*allowance.MaxKeys*budgetMemory
}

package server

// What the server holds in memory, in bytes of live objects and stacks; docs/limits.md
// has the formula.
const (
	// serverMemory is what a server without matches has, besides what follows.
	serverMemory = 4 << 20

	// budgetMemory is what one address takes in a table of budgets, of which there are
	// budgetTables.
	budgetMemory = 256
	budgetTables = 6

	// strangerMemory is what a connection takes that has not authenticated, and what
	// one takes that is no WebSocket: goroutines, buffers, TLS, and the header of a
	// request.
	strangerMemory = 64 << 10

	// messageMemory is what a message of a client takes that has arrived.
	messageMemory = 80 << 10

	// peerMemory is what a connection takes that has authenticated: a message that is
	// read and one that waits for the match, and twice as many messages of the server
	// as may wait for its socket, in memory that grew in steps.
	peerMemory = strangerMemory + 2*messageMemory + (2*maxQueued+2)*maxWrite

	// matchMemory is what a match has besides its state and its connections: the
	// writer of its replay, and frames.
	matchMemory = 4 << 20

	// gameCopies is how many times its state a match has in memory, with what a game
	// keeps beside it, besides the host.Options.EvidenceHistory copies.
	gameCopies = 24
)

// MemoryBound returns how many bytes the server's live objects and stacks have at
// most, with the matches that it has, as large as their states are now. With the
// usual settings of Go's garbage collector the process may have twice as many.
func (s *Server) MemoryBound() int {
	sum := serverMemory + (s.entrance.all+s.sockets.all)*strangerMemory + budgetTables*maxBudgets*budgetMemory
	for _, m := range s.Matches() {
		sum += int(m.memoryBound.Load())
	}
	return sum
}

// bound notes the match's part of MemoryBound. The match's goroutine calls it.
func (m *Match) bound(stateBytes int) {
	peers := int(m.spec.Settings.Players) + m.maxSpectators
	m.memoryBound.Store(int64(m.host.MemoryBound(stateBytes) + peers*peerMemory + inboxSize*messageMemory + matchMemory + (gameCopies+m.history)*stateBytes))
}

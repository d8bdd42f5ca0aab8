package server

import "github.com/seed-49bee653/samestep/lockstep"

// retryAfter is when clients may reconnect after a shutdown.
const retryAfter = lockstep.Second

// suspend stops the match, and tells all connections when to come back. Its replay gets no end, so that it can be resumed.
func (m *Match) suspend() {
	m.suspended = true
	m.host.Shutdown(m.now(), retryAfter)
	if m.writer == nil {
		m.host.End(m.now(), "the server was shut down") // nothing is left to resume
	}
}

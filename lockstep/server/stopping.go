package server

import (
	"path/filepath"

	"github.com/seed-49bee653/samestep/lockstep"
)

// retryAfter is when clients may reconnect after a shutdown.
const retryAfter = 5 * lockstep.Second

// suspend stops the match, and tells all connections when to come back. Its replay gets no end, so that it can be resumed.
func (m *Match) suspend() {
	m.suspended = true
	m.host.Shutdown(m.now(), retryAfter)
	if m.writer == nil {
		m.host.End(m.now(), "the server was shut down") // nothing is left to resume
	}
}

// over reports whether the match has ended or is suspended, and all connections have closed. After an end by the rules it
// also waits for players who come back to see it, unless the server is shut down.
func (m *Match) over() bool {
	return (m.suspended || m.host.Err() != nil) && len(m.conns) == 0 && !m.host.Lingers()
}

// closeReplay closes the replay's file, and ends its writer's goroutine.
func (m *Match) closeReplay() error {
	err := m.writer.Close()
	if cerr := m.file.Close(); err == nil {
		err = cerr
	}
	m.server.replays.setLive(filepath.Base(m.path), false)
	return err
}

package server

import (
	"fmt"
	"path/filepath"
	"time"
)

// suspend stops the match, and tells all connections when to come back. Its replay gets no end, so that it can be resumed.
func (m *Match) suspend() {
	m.suspended = true
	m.host.Shutdown(m.now(), retryAfter)
	if m.writer == nil {
		m.host.End(m.now(), "the server was shut down") // nothing is left to resume
	}
}

// endIfIdle ends a match that has had no connection for Options.IdleMatch.
func (m *Match) endIfIdle(now time.Time) {
	limit := m.server.options.IdleMatch
	if limit > 0 && !m.idle.IsZero() && now.Sub(m.idle) > limit && m.host.Err() == nil {
		m.host.End(m.now(), fmt.Sprintf("nobody was connected for %v", limit))
	}
}

// over reports whether the match has ended or is suspended, and all connections have closed. After an end by the rules it
// also waits for players who come back to see it, unless the server is shut down.
func (m *Match) over() bool {
	return (m.suspended || m.host.Err() != nil) && len(m.conns) == 0 && !m.host.Lingers()
}

// finish completes the replay.
func (m *Match) finish() {
	m.writing.Wait()
	if m.writer == nil {
		return
	}
	if err := m.closeReplay(); err != nil {
		m.server.metrics.failures.Inc()
		m.server.log.Error("replay", "match", m.spec.Name, "path", m.path, "err", err)
		return
	}
	if m.host.Err() == nil { // suspended, or our own code panicked: the replay has no end
		return
	}
	if err := m.server.archive(m.spec.Name, m.path); err != nil {
		m.server.metrics.failures.Inc()
		m.server.log.Error("archive", "match", m.spec.Name, "path", m.path, "err", err)
		return
	}
	m.finished.Store(true)
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

package server

import (
	"errors"
	"io/fs"
	"os"
)

// finish completes the replay.
func (m *Match) finish() {
	m.releaseFirst()
	m.keepDrafts()
	var err error
	if m.writer != nil {
		err = m.closeReplay() // bundles wait for what it writes
	}
	m.writing.Wait()
	if m.writer == nil {
		m.forgetBans()
		return
	}
	if err != nil {
		m.server.metrics.failures.Inc()
		m.logger.Error("replay", "path", m.path, "err", err)
		m.flushReplicated()
		m.release(nil)
		m.leaveOpen()
		return
	}
	stored := m.flushReplicated()
	if m.host.Err() == nil || m.replicated != nil && (m.suspended || !stored) { // suspended, or our own code panicked: the replay has no end
		m.release(m.failure)
		m.leaveOpen()
		return
	}
	err = m.server.sealer.tellOwners(m.path, m.owners)
	if err == nil {
		err = m.server.sealer.archive(m.logger, m.path)
	}
	if err != nil {
		if !m.lost.Load() {
			m.server.metrics.failures.Inc()
		}
		m.logger.Error("archive", "path", m.path, "err", err)
		m.release(err) // its log is complete, so any server can archive it
		return
	}
	m.finished.Store(true)
	m.forgetBans()
	if m.replicated != nil {
		m.replicated.Drop()
	}
}

// releaseFirst lets another server continue a match that was suspended, while the disk of this one does not answer. Nobody
// needs the file.
func (m *Match) releaseFirst() {
	if m.replicated != nil && m.suspended && m.disk.held == heldBySlowDisk {
		m.leaveOpen()
		m.flushReplicated()
		if m.released.CompareAndSwap(false, true) {
			m.replicated.Release(m.failure)
		}
	}
}

// leaveOpen says that the log has no end, or that its end is not stored: a server may continue the match.
func (m *Match) leaveOpen() {
	last := m.View()
	last.over = false
	m.view.Store(&last)
}

// noticeLost reports once that somebody has removed the match's log from its folder: what is written to it now is lost. It
// does not wait for the disk.
func (m *Match) noticeLost() {
	timed, _ := m.file.(timedFile)
	if _, onDisk := timed.file.(*os.File); !onDisk || m.lost.Load() || !m.looking.CompareAndSwap(false, true) {
		return
	}
	m.writing.Go(func() {
		defer m.looking.Store(false)
		if _, err := os.Lstat(m.path); errors.Is(err, fs.ErrNotExist) {
			m.lost.Store(true)
			m.server.metrics.failures.Inc()
			m.logger.Error("the log of a running match is gone", "path", m.path)
		}
	})
}

package server

import "github.com/seed-49bee653/samestep/server/internal/livelog"

// finish completes the replay.
func (m *Match) finish() {
	m.releaseFirst()
	m.bundles.End()
	var err error
	if m.log.Recorded() {
		err = m.closeReplay() // bundles wait for what it writes
	}
	m.bundles.Wait()
	if !m.log.Recorded() {
		m.forgetBans()
		return
	}
	if err != nil {
		m.server.metrics.failures.Inc()
		m.logger.Error("replay", "path", m.path, "err", err)
		m.flushReplicated()
		m.log.Release(nil)
		m.leaveOpen()
		return
	}
	stored := m.flushReplicated()
	if m.host.Err() == nil || m.log.Replicated() && (m.suspended || !stored) { // suspended, or our own code panicked: the replay has no end
		m.log.Release(m.failure)
		m.leaveOpen()
		return
	}
	err = m.server.sealer.tellOwners(m.path, m.owners.Subjects())
	if err == nil {
		err = m.server.sealer.archive(m.logger, m.path)
	}
	if err != nil {
		if !m.log.ToldLost() {
			m.server.metrics.failures.Inc()
		}
		m.logger.Error("archive", "path", m.path, "err", err)
		m.log.Release(err) // its log is complete, so any server can archive it
		return
	}
	m.finished.Store(true)
	m.forgetBans()
	m.log.Drop()
}

// releaseFirst lets another server continue a match that was suspended, while the disk of this one does not answer. Nobody
// needs the file.
func (m *Match) releaseFirst() {
	if m.log.Replicated() && m.suspended && m.log.Held() == livelog.HeldBySlowDisk {
		m.leaveOpen()
		m.flushReplicated()
		m.log.Leave(m.failure)
	}
}

// leaveOpen says that the log has no end, or that its end is not stored: a server may continue the match.
func (m *Match) leaveOpen() {
	last := m.View()
	last.over = false
	m.view.Store(&last)
}

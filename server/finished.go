package server

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"path/filepath"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server/internal/livelog"
)

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
	err = m.server.tellOwners(m.path, m.owners.Subjects())
	if err == nil {
		err = m.server.archive(m.logger, m.path)
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

// archive moves the replay of a match that is over out of the live folder, and seals it there.
func (s *Server) archive(log *slog.Logger, path string) error {
	to := s.archived(path)
	if to != path {
		if err := replay.Replace(path, to); err != nil {
			return err
		}
		s.replays.setLive(filepath.Base(to), false) // the list has one more
	}
	if s.options.KeepOpen {
		s.handOver(log, to)
	} else {
		s.seal(log, to)
	}
	return nil
}

// seal compresses the replay of a finished match concurrently with the running ones. It seals one replay at a time, so
// that live matches keep the remaining CPUs.
func (s *Server) seal(log *slog.Logger, path string) {
	s.sealing.Go(func() {
		select {
		case s.seals <- struct{}{}:
			defer func() { <-s.seals }()
		case <-s.sealCtx.Done():
			return
		}
		err := SealFile(s.sealCtx, path, s.options.SignKey)
		if err != nil && s.sealCtx.Err() == nil {
			s.metrics.failures.Inc()
			log.Error("seal", "path", path, "err", err)
		}
		s.replays.setLive(filepath.Base(path), false) // its size has changed
		if err == nil {
			s.handOver(log, path)
		}
	})
}

// SealFile seals the replay of a match that is over as a server does, and signs it unless the key is nil.
func SealFile(ctx context.Context, path string, key ed25519.PrivateKey) error {
	if err := replay.SealFile(ctx, path, replay.WriterOptions{SegmentTicks: sealTicks}); err != nil || key == nil {
		return err
	}
	return replay.SignFile(path, key)
}

// tellOwners tells the archive whose seats a match had, if there is an archive.
func (s *Server) tellOwners(path string, subjects map[lockstep.Player]string) error {
	a := s.options.Archive
	if a == nil || len(subjects) == 0 {
		return nil
	}
	return a.Played(s.archived(path), subjects)
}

// handOver gives a sealed replay and the bundles of its match to the archive, if there is one.
func (s *Server) handOver(log *slog.Logger, path string) {
	if s.options.Archive == nil {
		return
	}
	evidence, err := s.replays.evidence(filepath.Base(path))
	if err != nil {
		log.Error("archive", "path", path, "err", err) // the next start hands them over
	}
	for _, p := range append(evidence, path) {
		s.options.Archive.Add(p)
	}
}

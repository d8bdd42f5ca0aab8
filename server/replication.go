package server

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
)

// openReplicated opens the replicated log, if the server has any.
func (m *Match) openReplicated(h *lockstep.Header) (err error) {
	if r := m.server.options.Replicator; r != nil {
		var log ReplicatedLog
		if log, err = r.Open(m.spec.Name, h); log != nil {
			m.log.Replicate(m.path, log)
		}
	}
	if err != nil && !errors.Is(err, ErrExists) && !errors.Is(err, ErrShutdown) {
		err = storageFailed(err)
	}
	return err
}

// flushReplicated waits until the replicated log, if there is one, has all records. If that fails, another server will
// continue the match, even if it is over here.
func (m *Match) flushReplicated() (all bool) {
	if m.log.Released() {
		return true
	}
	err := m.log.Stored()
	if err != nil && !errors.Is(err, ErrNotOwner) {
		m.server.metrics.failures.Inc()
		m.logger.Error("replicated log", "err", err)
	}
	return err == nil
}

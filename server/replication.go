package server

import (
	"errors"
	"os"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// openReplicated opens the replicated log, if the server has any.
func (m *Match) openReplicated(h *lockstep.Header) (err error) {
	if r := m.server.options.Replicator; r != nil {
		m.replicated, err = r.Open(m.spec.Name, h)
	}
	if err != nil && !errors.Is(err, ErrExists) && !errors.Is(err, ErrShutdown) {
		err = storageFailed(err)
	}
	return err
}

// log returns where the match's records go, the replicated log first: a record that it refused is nowhere.
func (m *Match) log() lockstep.Log {
	switch {
	case m.writer == nil:
		return record.Tee()
	case m.replicated == nil:
		return m.writer
	}
	return record.Tee(m.replicated, m.writer)
}

// flushReplicated waits until the replicated log, if there is one, has all records. If that fails, another server will
// continue the match, even if it is over here.
func (m *Match) flushReplicated() (all bool) {
	if m.replicated == nil || m.released.Load() {
		return true
	}
	err := m.replicated.Flush()
	if err != nil && !errors.Is(err, ErrNotOwner) {
		m.server.metrics.failures.Inc()
		m.logger.Error("replicated log", "err", err)
	}
	return err == nil
}

// release lets another server continue the match, if its log is replicated. The file is removed, so that nobody continues
// the match from here.
func (m *Match) release(why error) {
	if m.replicated == nil {
		return
	}
	os.Remove(m.path)
	if m.released.CompareAndSwap(false, true) {
		m.replicated.Release(why)
	}
}

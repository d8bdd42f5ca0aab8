package cluster

import (
	"errors"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// errStorage: this server cannot renew its lease.
var errStorage = errors.New("the storage of the cluster does not answer")

// Check implements [server.Replicator].
func (m *Member) Check() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.leases.Mine(m.now()) {
		return errStorage
	}
	return nil
}

// Open implements [server.Replicator].
func (m *Member) Open(name string, h *lockstep.Header) (server.ReplicatedLog, error) {
	m.mu.Lock()
	id := h.Match.String()
	l, taken, draining := m.claimed[id], m.claimed[id] != nil, m.draining
	delete(m.claimed, id)
	if taken {
		m.open[id] = l
	}
	m.mu.Unlock()
	switch {
	case taken:
		return l, nil
	case draining:
		return nil, server.ErrShutdown
	}
	e, err := m.write(Match{Name: name, ID: id, Game: h.Game, Build: h.Build, Entry: ownership.Entry{Server: m.id, State: ownership.Playing, Term: 1}})
	if err != nil {
		return nil, err
	}
	l = m.newMatchLog(e, h.Match, ownership.End{}, m.options.Conn.Segments(h.Match))
	m.mu.Lock()
	m.open[id] = l
	m.mu.Unlock()
	return l, nil
}

package cluster

import (
	"context"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// Leave gives all matches to other servers, one after the other so that players wait only shortly, and ends the
// membership. Matches that nobody has taken when ctx ends are taken after the lease has run out. Shut the server down
// afterwards.
func (m *Member) Leave(ctx context.Context) {
	m.mu.Lock()
	m.draining = true
	s := m.server
	m.mu.Unlock()
	_ = m.renew(ctx) // the others learn that this server takes no matches
	if s != nil && m.hasSuccessor() {
		for _, match := range s.Matches() {
			if err := m.move(ctx, match); err != nil {
				m.options.Log.Warn("match not moved", "match", match.Name(), "err", err)
			}
		}
	}
}

// hasSuccessor reports whether another server can take matches.
func (m *Member) hasSuccessor() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, s := range m.others {
		if name != m.id && !s.Draining {
			return true
		}
	}
	return false
}

// moveTime is how long a match that moves may be without a server.
const moveTime = 10 * time.Second

// move suspends a match and waits until another server has it.
func (m *Member) move(ctx context.Context, match *server.Match) error {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	match.Suspend()
	select {
	case <-match.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	return m.wait(ctx, func() bool {
		e := m.entries[match.Name()]
		return e == nil || e.State == Failed || e.State == Playing && e.Server != m.id
	})
}

// leaving reports whether the server gives its matches away.
func (m *Member) leaving() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.draining
}

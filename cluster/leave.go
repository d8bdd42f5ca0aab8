package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/server"
)

const (
	// movesAtOnce is how many matches move at a time when a server leaves: few, so that players wait only shortly.
	movesAtOnce = 4

	// moveTime is how long a match that moves may be without a server.
	moveTime = 10 * time.Second
)

// Leave gives all matches to other servers, a few at a time, and ends the membership. Matches that nobody can take, or that
// are left when ctx ends, stay until the server is shut down: do that afterwards.
func (m *Member) Leave(ctx context.Context) {
	m.mu.Lock()
	m.draining = true
	s := m.server
	m.mu.Unlock()
	_ = m.renew(ctx) // the others learn that this server takes no matches
	if s == nil {
		return
	}
	var moving sync.WaitGroup
	defer moving.Wait()
	slots := make(chan struct{}, movesAtOnce)
	for _, match := range s.Matches() {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		moving.Go(func() {
			defer func() { <-slots }()
			if !m.hasSuccessor(match.Name()) {
				return
			}
			if err := m.move(ctx, match); err != nil {
				logged.Match(m.options.Log, match.Name(), match.Status().Match).Warn("match not moved", "err", err)
			}
		})
	}
}

// hasSuccessor reports whether another server can take a match.
func (m *Member) hasSuccessor(match string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[match]
	if e == nil {
		return false
	}
	for name, s := range m.others {
		if name != m.id && !m.leases.Expired(name, m.now()) && s.can(Build{e.Game, e.Build}) {
			return true
		}
	}
	return false
}

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
		return e == nil || e.State == ownership.Failed || e.State == ownership.Playing && e.Server != m.id
	})
}

// leaving reports whether the server gives its matches away.
func (m *Member) leaving() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.draining
}

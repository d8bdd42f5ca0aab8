package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

const (
	// lookEvery is the longest time between two looks for matches to take.
	lookEvery = 50 * time.Millisecond

	// atOnce is how many matches are taken at once for each processor. A takeover mostly waits for the storage and the disk.
	atOnce = 16

	// claimTime is how long a takeover may take until its claim is stored.
	claimTime = 30 * time.Second
)

// takeOver takes matches until the member leaves.
func (m *Member) takeOver() {
	slots := make(chan struct{}, atOnce*runtime.GOMAXPROCS(0))
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		m.mu.Lock()
		changed := m.changed
		m.mu.Unlock()
		for _, e := range m.due() {
			m.running.Go(func() {
				select {
				case slots <- struct{}{}:
					m.take(e)
					<-slots
				case <-m.ctx.Done():
				}
				m.mu.Lock()
				delete(m.taking, e.Name)
				m.mu.Unlock()
			})
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-m.ctx.Done():
			return
		}
	}
}

// due returns the matches that this server should take, and marks them as being taken.
func (m *Member) due() (all []*Match) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.draining || m.server == nil {
		return nil
	}
	now := m.now()
	for name, e := range m.entries { // the order does not matter
		halfway := e.Server == m.id && e.State == Recovering // the answer to what said so got lost
		if m.taking[name] || e.State == Failed || e.Server == m.id && e.State != Released && !halfway {
			continue
		}
		since := e.seen
		if e.State != Released && !halfway {
			if !m.leases.Expired(e.Server, now) {
				continue
			}
			since = m.leases.Since(e.Server)
		}
		if m.leases.Turn(name, m.able(e), since, now) {
			m.taking[name] = true
			all = append(all, e)
		}
	}
	return all
}

// able returns the names of the servers that could take a match. The mutex is held.
func (m *Member) able(e *Match) (names []string) {
	for name, s := range m.others {
		if s.can(Build{e.Game, e.Build}) {
			names = append(names, name)
		}
	}
	return names
}

// runsHere reports whether this server runs a match, or begins to.
func (m *Member) runsHere(e *Match) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open[e.ID] != nil
}

// take continues a match that has no server.
func (m *Member) take(e *Match) {
	if m.runsHere(e) { // only the directory does not say so yet
		_ = m.played(e)
		return
	}
	began := time.Now()
	next := *e
	next.Server, next.State, next.Term = m.id, Recovering, e.Term+1
	mine, err := m.write(next)
	if err != nil {
		return // another server was faster, or the storage is away
	}
	tick, err := m.resume(mine)
	log := m.options.Log.With("match", e.Name, "id", e.ID, "term", next.Term, "from", e.Server, "seconds", time.Since(began).Seconds())
	switch {
	case err == nil:
		m.metrics.takeovers.WithLabelValues("continued").Inc()
		log.Info("match taken over", "tick", tick)
	case errors.Is(err, server.ErrNotInterrupted):
		m.metrics.takeovers.WithLabelValues("over").Inc()
		log.Info("the match was over")
	case errors.Is(err, errNeverBegan):
		m.metrics.takeovers.WithLabelValues("never began").Inc()
		log.Warn("a match that never began is removed")
	default:
		m.metrics.takeovers.WithLabelValues("failed").Inc()
		log.Error("match not taken over", "err", err)
	}
}

// resume continues the match of an entry that is this server's.
func (m *Member) resume(e *Match) (tick uint32, err error) {
	ctx, cancel := context.WithTimeout(m.ctx, claimTime)
	defer cancel()
	f, err := m.fetch(ctx, e)
	if err != nil {
		if errors.Is(err, errNeverBegan) {
			f.log.Drop()
		} else {
			m.release(e, err)
		}
		return 0, err
	}
	m.mu.Lock()
	m.claimed[e.ID] = f.log
	s := m.server
	m.mu.Unlock()
	spec, err := m.options.Spec(e.Name, f.header)
	var match *server.Match
	if err == nil {
		match, err = s.Resume(f.path, spec)
	}
	m.mu.Lock()
	_, unopened := m.claimed[e.ID]
	delete(m.claimed, e.ID)
	m.mu.Unlock()
	if unopened { // so the server has not released it
		f.log.Release(err)
	}
	if err != nil {
		return 0, err
	}
	if err := m.played(e); err != nil {
		return 0, fmt.Errorf("%w; it runs here all the same, or another server has it", err)
	}
	return uint32(match.View().Tick), nil
}

// played says in the directory that this server runs a match that it has taken.
func (m *Member) played(e *Match) error {
	next := *e
	next.State, next.Tries, next.Failure = Playing, 0, ""
	_, err := m.write(next)
	return err
}

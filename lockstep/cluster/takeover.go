package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/cluster/ownership"
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
	if m.drains() || m.server == nil {
		return nil
	}
	now := m.now()
	room := m.options.Capacity - m.loads()[m.id] - len(m.taking)
	for name, e := range m.entries { // the order does not matter
		halfway := e.Server == m.id && m.stray(e, now)
		if room <= 0 && !halfway || m.taking[name] || e.State == ownership.Failed || e.Server == m.id && e.State != ownership.Released && !halfway {
			continue
		}
		since := e.seen
		if e.State != ownership.Released && !halfway {
			if !m.leases.Expired(e.Server, now) {
				continue
			}
			since = m.leases.Since(e.Server)
		}
		able, pause := m.able(e, now)
		if m.leases.Turn(name, able, since+pause, now) {
			m.taking[name] = true
			all = append(all, e)
			room--
		}
	}
	return all
}

// stray reports whether the directory says that this server has a match, and it does not: an answer of the storage got lost.
// The mutex is held.
func (m *Member) stray(e *Match, now lockstep.Time) bool {
	return e.State == ownership.Recovering || e.State == ownership.Playing && m.open[e.ID] == nil && now-e.seen > m.times.stray
}

// able returns the names of the servers that could take a match: those that have not tried yet, or all of them after a pause.
// The mutex is held.
func (m *Member) able(e *Match, now lockstep.Time) (names []string, pause lockstep.Time) {
	var all []string
	for name, s := range m.others {
		if s.can(Build{e.Game, e.Build}) && !m.leases.Expired(name, now) {
			all = append(all, name)
		}
	}
	names, again := e.Candidates(all)
	if again {
		pause = lockstep.Time(len(e.Tried)) * m.times.tryAgain
	}
	return names, pause
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
	next.Entry = e.Take(m.id)
	mine, err := m.write(next)
	if err != nil || mine.State == ownership.Failed {
		return // another server was faster, or the storage is away
	}
	tick, err := m.resume(mine)
	log := m.logOf(e).With("term", next.Term, "from", e.Server, "seconds", time.Since(began).Seconds())
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
			m.release(e, cmp.Or(ctx.Err(), err))
		}
		return 0, err
	}
	m.mu.Lock()
	m.claimed[e.ID] = f.log
	s := m.server
	m.mu.Unlock()
	match, err := m.run(s, e, f)
	m.mu.Lock()
	_, unopened := m.claimed[e.ID]
	delete(m.claimed, e.ID)
	m.mu.Unlock()
	if unopened || errors.Is(err, errPanic) { // so the server has not released it
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

// errPanic: the program has panicked.
var errPanic = errors.New("cluster: a panic")

// run runs a match that was fetched. A panic costs this match only: it would come again at each other server.
func (m *Member) run(s *server.Server, e *Match, f *fetched) (match *server.Match, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
			m.logOf(e).Error("match not taken over", "err", err, "stack", string(debug.Stack()))
		}
	}()
	spec, err := m.options.Spec(e.Name, f.header)
	if err != nil {
		return nil, err
	}
	return s.Resume(f.path, spec)
}

// played says in the directory that this server runs a match that it has taken.
func (m *Member) played(e *Match) error {
	next := *e
	next.Entry = e.Play()
	_, err := m.write(next)
	return err
}

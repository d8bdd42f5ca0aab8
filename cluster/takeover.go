package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

const (
	// lookEvery is the longest time between two looks for matches to take.
	lookEvery = 50 * time.Millisecond

	// atOnce is how many matches are taken at once for each processor. A takeover mostly waits for the storage and the disk.
	atOnce = 16

	// claimTime is how long a takeover may take until its claim is stored.
	claimTime = 30 * time.Second
)

// A due match is one that this server should take now.
type due struct {
	*Match
	alone bool // it is a suspect, see [tries.Record]
}

// takeOver takes matches until the member leaves.
func (m *Member) takeOver() {
	slots := make(chan struct{}, atOnce*runtime.GOMAXPROCS(0))
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		m.mu.Lock()
		changed := m.changed
		m.mu.Unlock()
		for _, d := range m.due() {
			m.running.Go(func() {
				var match *server.Match
				var mine *Match
				select {
				case slots <- struct{}{}:
					mine, match = m.take(d)
					<-slots
				case <-m.ctx.Done():
				}
				m.mu.Lock()
				delete(m.taking, d.Name)
				m.mu.Unlock()
				if match != nil {
					m.tested(mine, match.AwaitTest(m.ctx))
				}
				m.mu.Lock()
				m.tries.Leave()
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

// due returns the matches that this server should take, and marks them as being taken. Suspects come last, one at a time.
func (m *Member) due() (all []due) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.drains() || m.server == nil {
		return nil
	}
	now := m.now()
	room := m.options.Capacity - m.loads()[m.id] - len(m.taking)
	var found []*Match
	for name, e := range m.entries { // the order does not matter
		halfway := e.Server == m.id && m.stray(e, now)
		if m.taking[name] || e.State == ownership.Failed || e.Server == m.id && e.State != ownership.Released && !halfway {
			continue
		}
		since := e.seen
		if e.State != ownership.Released && !halfway {
			if !m.leases.Expired(e.Server, now) {
				continue
			}
			since = m.leases.Since(e.Server)
			lost := *e
			lost.Entry = e.Lost()
			e = &lost
		}
		able, pause := m.able(e, now)
		if m.leases.Turn(name, able, since+pause, now) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b *Match) int {
		return cmp.Or(a.Tries.Compare(b.Tries), strings.Compare(a.Name, b.Name))
	})
	for _, e := range found {
		if (room > 0 || e.Server == m.id && m.stray(e, now)) && m.tries.Enter(e.Tries.Suspect) {
			room--
			m.taking[e.Name] = true
			all = append(all, due{e, e.Tries.Suspect})
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

// take continues a match that has no server. match is nil if it does not run here because of that.
func (m *Member) take(d due) (mine *Match, match *server.Match) {
	e := d.Match
	if m.runsHere(e) { // only the directory does not say so yet
		_ = m.played(e)
		return nil, nil
	}
	began := time.Now()
	next := *e
	next.Entry = e.Take(m.id, d.alone)
	mine, err := m.write(next)
	log := m.logOf(e).With("term", next.Term, "from", e.Server)
	if err == nil && mine.State == ownership.Failed {
		log.Error("match set aside", "why", mine.Failure, "deaths_alone", mine.Tries.Deaths)
	}
	if err != nil || mine.State == ownership.Failed {
		return nil, nil // another server was faster, or the storage is away
	}
	if d.alone {
		log.Warn("match is taken over alone: a server was lost while it tried this match", "deaths_alone", e.Tries.Deaths)
	}
	match, err = m.resume(mine)
	log = log.With("seconds", time.Since(began).Seconds())
	switch {
	case err == nil:
		m.metrics.takeovers.WithLabelValues(tookOver).Inc()
		log.Info("match taken over", "tick", uint32(match.Status().Tick))
	case errors.Is(err, server.ErrNotInterrupted):
		m.metrics.takeovers.WithLabelValues(wasOver).Inc()
		log.Info("the match was over")
	case errors.Is(err, errNeverBegan):
		m.metrics.takeovers.WithLabelValues(neverBegan).Inc()
		log.Warn("a match that never began is removed")
	case errors.Is(err, server.ErrHung):
		m.metrics.takeovers.WithLabelValues(hung).Inc()
		log.Error("match not taken over", "err", err)
	default:
		m.metrics.takeovers.WithLabelValues(failedTo).Inc()
		log.Error("match not taken over", "err", err)
	}
	return mine, match
}

// tested says in the directory how the try of a match that runs here has ended.
func (m *Member) tested(e *Match, ran bool) {
	now := m.mine(e)
	if now == nil || now.State != ownership.Playing && now.State != ownership.Recovering || !m.runsHere(e) {
		return // it has left
	}
	next := *now
	next.Entry = now.Play().Tested(ran)
	if _, err := m.write(next); err != nil && !errors.Is(err, server.ErrExists) {
		m.logOf(e).Warn("the end of a try is not stored yet", "err", err)
		m.later(func() { m.tested(e, ran) })
	}
}

// resume continues the match of an entry that is this server's. With an error, the match can run here all the same.
func (m *Member) resume(e *Match) (match *server.Match, err error) {
	ctx, cancel := context.WithTimeout(m.ctx, claimTime)
	defer cancel()
	f, err := m.fetch(ctx, e)
	if err != nil {
		if errors.Is(err, errNeverBegan) {
			f.log.Drop()
		} else {
			m.release(e, cmp.Or(ctx.Err(), err))
		}
		return nil, err
	}
	m.mu.Lock()
	m.claimed[e.ID] = f.log
	s := m.server
	m.mu.Unlock()
	var spec server.MatchSpec
	err = s.Contain(m.logOf(e), func() (err error) {
		spec, err = m.options.Spec(e.Name, f.header, f.rules)
		return err
	})
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
		return nil, err
	}
	if err := m.played(e); err != nil {
		return match, fmt.Errorf("%w; it runs here all the same, or another server has it", err)
	}
	return match, nil
}

// played says in the directory that this server runs a match that it has taken.
func (m *Member) played(e *Match) error {
	next := *e
	next.Entry = e.Play()
	_, err := m.write(next)
	return err
}

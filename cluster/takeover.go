package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
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
	next := e.Take(m.id, d.alone)
	mine, err := m.change(e, next)
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
		log.Warn("removed a match that never began")
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
	if _, err := m.change(now, now.Play().Tested(ran)); err != nil && !errors.Is(err, server.ErrExists) {
		m.logOf(e).Warn("result of a takeover not stored yet", "err", err)
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
	_, err := m.change(e, e.Play())
	return err
}

// failed returns the entry of a match that no server could continue, or nil.
func (m *Member) failed(name string) *Match {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[name]; e != nil && e.State == ownership.Failed {
		return e
	}
	return nil
}

// answerFailed answers a request for a match that no server could continue. An admin can let the servers try again, and can
// remove the match. Its players may come back until then.
func (m *Member) answerFailed(w http.ResponseWriter, r *http.Request, name string) {
	m.mu.Lock()
	s := m.server
	m.mu.Unlock()
	change := http.HandlerFunc(nil)
	switch {
	case s == nil:
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/retry"):
		change = func(w http.ResponseWriter, r *http.Request) { m.answerChange(w, name, m.retry) }
	case r.Method == http.MethodDelete:
		change = func(w http.ResponseWriter, r *http.Request) { m.answerChange(w, name, m.discard) }
	}
	if change != nil {
		s.Admin(change).ServeHTTP(w, r)
		return
	}
	m.guarded(w, r, func(w http.ResponseWriter, r *http.Request) {
		refuseFor(w, "recovering", "no server could resume the match; an admin can retry it")
	})
}

// answerChange answers with the entry of a match after a change.
func (m *Member) answerChange(w http.ResponseWriter, name string, change func(*Match) (*Match, error)) {
	was := m.failed(name)
	if was == nil {
		refuse(w, http.StatusConflict, "conflict", "the match has not failed")
		return
	}
	e, err := change(was)
	switch {
	case errors.Is(err, server.ErrExists):
		refuse(w, http.StatusConflict, "conflict", "the match has changed meanwhile")
	case err != nil:
		m.logOf(was).Error("failed match", "err", err)
		refuseFor(w, "storage", "the cluster's storage does not respond")
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(e)
	}
}

// retry lets the servers try again to continue a match.
func (m *Member) retry(e *Match) (*Match, error) { return m.change(e, e.Retry()) }

// discard removes a match from the cluster. Its log stays in the folder of live matches of this server, for the tools.
func (m *Member) discard(e *Match) (*Match, error) {
	m.mu.Lock()
	m.taking[e.Name] = true // so that nobody here continues it
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		delete(m.taking, e.Name)
		m.mu.Unlock()
	}()
	mine, err := m.change(e, e.Retry().Take(m.id, false))
	if err != nil {
		return nil, err
	}
	f, err := m.fetch(m.ctx, mine)
	if err != nil && f == nil {
		m.release(mine, err)
		return nil, err
	}
	m.logOf(e).Warn("removed a failed match", "replay", f.path)
	f.log.Drop()
	return mine, nil
}

// fileOf returns the path of the file in which this server would have a match.
func (m *Member) fileOf(e *Match) string {
	return filepath.Join(m.options.Dir, "live", fmt.Sprintf("%s-%.8s.ssr", e.Name, e.ID))
}

// removeLeftovers removes files that a crash has left of matches which other servers play by now: the replicated log has all that
// is in them. It ends when there are none. A file whose match is not in the directory stays: the match is over, or the storage has
// lost it, and then the file is all that is left of it.
func (m *Member) removeLeftovers() {
	paths, err := server.LiveLogs(m.options.Dir)
	if err != nil || len(paths) == 0 {
		return // no folder, or nothing in it
	}
	left := make(map[string]bool)
	for _, path := range paths {
		left[path] = true
	}
	for len(left) > 0 {
		m.mu.Lock() // so that this server does not take a match meanwhile, and writes its file
		changed := m.changed
		for _, e := range m.entries {
			path := m.fileOf(e)
			if !left[path] || e.State != ownership.Playing {
				continue
			}
			delete(left, path)
			if e.Server != m.id && !inUse(path) && os.Remove(path) == nil {
				m.logOf(e).Info("file of a crash removed: another server has the match", "path", path)
			}
		}
		m.mu.Unlock()
		select {
		case <-changed:
		case <-m.ctx.Done():
			return
		}
	}
}

// inUse reports whether another server, with the same folder, may write a file.
func inUse(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	locked, err := replay.Locked(f)
	return locked || err != nil
}

// headEvery is the time between two words of a server about how far its logs are.
const headEvery = 3 * time.Second

// tellHeads says how far the logs of this server are, until the member leaves.
func (m *Member) tellHeads() {
	for range m.every(headEvery) {
		m.tellHeadsOnce()
	}
}

func (m *Member) tellHeadsOnce() {
	ticks := make(map[string]lockstep.Tick)
	for _, x := range m.server.Matches() {
		v := x.Status()
		ticks[v.Match] = v.Tick
	}
	m.mu.Lock() // so that a log which is removed has no head after that
	defer m.mu.Unlock()
	for id, l := range m.open {
		if end, ok := l.stored(); ok {
			_ = m.options.Conn.TellHead(l.id, storage.Head{Sequence: end, Tick: ticks[id]}) // fails while the storage is away: then nothing is stored, either
		}
	}
}

// stored returns the sequence of the last message that is stored, and false if there is none, or the log is lost.
func (l *matchLog) stored() (sequence uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := l.owner.End().Sequence
	return end, end > 0 && l.owner.Claimed() && l.err == nil
}

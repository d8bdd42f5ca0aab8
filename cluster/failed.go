package cluster

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/server"
)

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
		refuseFor(w, "recovering", "no server could continue the match; an admin can let them try again")
	})
}

// answerChange answers with the entry of a match after a change.
func (m *Member) answerChange(w http.ResponseWriter, name string, change func(*Match) (*Match, error)) {
	was := m.failed(name)
	if was == nil {
		refuse(w, http.StatusConflict, "conflict", "the match has not failed any more")
		return
	}
	e, err := change(was)
	switch {
	case errors.Is(err, server.ErrExists):
		refuse(w, http.StatusConflict, "conflict", "the match has changed meanwhile")
	case err != nil:
		m.logOf(was).Error("failed match", "err", err)
		refuseFor(w, "storage", "the storage of the cluster does not answer")
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(e)
	}
}

// retry lets the servers try again to continue a match.
func (m *Member) retry(e *Match) (*Match, error) {
	next := *e
	next.Entry = e.Retry()
	return m.write(next)
}

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
	next := *e
	next.Entry = e.Retry().Take(m.id, false)
	mine, err := m.write(next)
	if err != nil {
		return nil, err
	}
	f, err := m.fetch(m.ctx, mine)
	if err != nil && f == nil {
		m.release(mine, err)
		return nil, err
	}
	m.logOf(e).Warn("a failed match is removed", "replay", f.path)
	f.log.Drop()
	return mine, nil
}

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
)

// Handler returns a handler in front of h, which serves this server's matches. It answers for the matches of all servers:
// it sends requests to the server that has the match, and waits a short time for one that has none. POST /matches goes to
// the server with the most room, and GET /matches lists the matches of all. What it passes on has passed the checks of this
// server first, see [server.Server.Guard].
func (m *Member) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := matchOf(r.URL)
		switch {
		case r.Header.Get(hop) != "": // anybody may send it: this server then answers as one without a cluster
			h.ServeHTTP(w, r)
		case name != "":
			m.route(w, r, name, h)
		case r.Method == http.MethodPost && r.URL.Path == "/matches":
			m.guarded(w, r, func(w http.ResponseWriter, r *http.Request) { m.place(w, r, h) })
		case r.Method == http.MethodGet && r.URL.Path == "/matches":
			m.list(w, r, h)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// matchOf returns the name of the match in a path such as /matches/NAME/play, or "". The routes of a server see the same name:
// a path that they would clean first, and a name with an escaped slash, are none.
func matchOf(u *url.URL) string {
	if !strings.HasPrefix(u.Path, "/matches/") || path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/matches/"), "/")
	name, err := url.PathUnescape(name)
	if err != nil || !matchName.MatchString(name) {
		return ""
	}
	return name
}

// guarded calls next after the checks that a server makes before its own routes. The request that next gets has the address of
// the client, also behind a proxy.
func (m *Member) guarded(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	m.mu.Lock()
	s := m.server
	m.mu.Unlock()
	if s == nil { // before Serve
		refuse(w, http.StatusServiceUnavailable, "recovering", "the server is starting")
		return
	}
	s.Guard(next).ServeHTTP(w, r)
}

// route sends a request about a match to the server that has it.
func (m *Member) route(w http.ResponseWriter, r *http.Request, name string, h http.Handler) {
	if m.failed(name) != nil {
		m.answerFailed(w, r, name)
		return
	}
	if _, here, _ := m.where(name); here {
		h.ServeHTTP(w, r)
		return
	}
	m.guarded(w, r, func(gw http.ResponseWriter, gr *http.Request) {
		if m.elsewhere(gw, gr, name) {
			h.ServeHTTP(w, r) // which has the same checks
		}
	})
}

// elsewhere sends a request to the server that has a match. It reports whether this one has it by now, and has not answered
// then.
func (m *Member) elsewhere(w http.ResponseWriter, r *http.Request, name string) (here bool) {
	ctx, cancel := context.WithTimeout(r.Context(), m.times.patience)
	defer cancel()
	for {
		if m.leaving() { // a connection through this server would soon be lost
			refuseFor(w, "busy", "this server is leaving the cluster; use another one")
			return false
		}
		address, here, err := m.find(ctx, r.RemoteAddr, name)
		switch {
		case errors.Is(err, errCrowd):
			refuseFor(w, "busy", "too many requests are waiting for matches without a server")
			return false
		case err != nil:
			refuseFor(w, "recovering", "the match has no server right now; retry in 1 s")
			return false
		case here:
			return true
		case m.pass(w, r, name, address):
			return false
		}
		if !storage.Pause(ctx, askAgain) { // that server may be lost, and nobody knows it yet
			refuseFor(w, "recovering", "the match's server does not respond; retry in 1 s")
			return false
		}
	}
}

// where returns the address of the server of a match, or that the match is here; so is one that does not exist. It reports
// false if the match has no server now.
func (m *Member) where(name string) (address string, here, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.located(name)
}

// located is where. The mutex is held.
func (m *Member) located(name string) (address string, here, ok bool) {
	e := m.entries[name]
	switch {
	case e == nil:
		return "", true, true
	case e.State != ownership.Playing || e.Server != m.id && m.leases.Expired(e.Server, m.now()):
		return "", false, false
	case e.Server == m.id: // whose log can be lost, and the directory does not say so yet
		here = m.open[e.ID] != nil
		return "", here, here
	case m.others[e.Server] != nil:
		return m.others[e.Server].Address, false, true
	}
	return "", false, false
}

const (
	// maxWaiting is how many requests wait at a time for matches that have no server now. Each holds a connection.
	maxWaiting = 2048

	// maxWaitingAddress is how many of them one address may have.
	maxWaitingAddress = 256
)

// errCrowd refuses a request because too many others wait.
var errCrowd = errors.New("cluster: too many requests wait")

// find waits until a match has a server; see where. A client that waits with too many others gets errCrowd.
func (m *Member) find(ctx context.Context, client, name string) (address string, here bool, err error) {
	address, here, ok := m.where(name)
	if ok {
		return address, here, nil
	}
	leave, room := m.waiting.Take(wsmatch.AddressOf(client), maxWaiting, maxWaitingAddress)
	if !room {
		return "", false, errCrowd
	}
	defer leave()
	err = m.wait(ctx, func() bool {
		address, here, ok = m.located(name)
		return ok
	})
	return address, here, err
}

// place sends a request to create a match to the server with the most room for it.
func (m *Member) place(w http.ResponseWriter, r *http.Request, h http.Handler) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxCreation+1))
	if err != nil {
		refuse(w, http.StatusBadRequest, "bad_request", "incomplete request body")
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	var wanted struct{ Game, Build string }
	_ = json.Unmarshal(body, &wanted) // the server that gets it says what is wrong with it
	if address := m.roomiest(wanted.Game, wanted.Build); address != "" && m.send(w, r, address) {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.ServeHTTP(w, r)
}

// roomiest returns the address of the server with the most room for a match, or "" for this server. Without a game it is
// the first one of this server.
func (m *Member) roomiest(game, build string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if game == "" && len(m.options.Builds) > 0 {
		game = m.options.Builds[0].Game
	}
	self, runs := m.self(), m.loads()
	address, most := "", 0
	if self.canRun(game, build) {
		most = self.Capacity - self.Matches
	}
	for name, s := range m.others {
		s := *s
		s.Matches = runs[name]
		room := s.Capacity - s.Matches
		if name != m.id && s.canRun(game, build) && !m.leases.Expired(name, m.now()) && (room > most || room == most && address > s.Address) {
			address, most = s.Address, room
		}
	}
	return address
}

// canRun reports whether the server has room for a match of a game, of any build if that is "".
func (s *Server) canRun(game, build string) bool {
	for _, b := range s.Builds {
		if b.Game == game && (build == "" || b.Build == build) && s.can(b) {
			return true
		}
	}
	return false
}

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

const (
	// patience is how long a request waits for a match that is between two servers.
	patience = 5 * time.Second

	// maxCreation is the largest body of a request to create a match, in bytes; lockstep/server has the same limit.
	maxCreation = 64 << 10
)

// Handler returns a handler in front of h, which serves this server's matches. It answers for the matches of all servers:
// it sends requests to the server that has the match, and waits a short time for one that has none. POST /matches goes to
// the server with the most room, and GET /matches lists the matches of all.
func (m *Member) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := matchOf(r.URL.Path)
		switch {
		case r.Header.Get(hop) != "":
			h.ServeHTTP(w, r)
		case name != "":
			m.route(w, r, name, h)
		case r.Method == http.MethodPost && r.URL.Path == "/matches":
			m.place(w, r, h)
		case r.Method == http.MethodGet && r.URL.Path == "/matches":
			m.list(w, r, h)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// matchOf returns the name of the match in a path such as /matches/NAME/play, or "".
func matchOf(path string) string {
	rest, ok := strings.CutPrefix(path, "/matches/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// route sends a request about a match to the server that has it.
func (m *Member) route(w http.ResponseWriter, r *http.Request, name string, h http.Handler) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	for {
		address, here, err := m.find(ctx, name)
		switch {
		case err != nil:
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable, "recovering", "the match has no server now, come back in 1 s")
			return
		case here:
			h.ServeHTTP(w, r)
			return
		case m.pass(w, r, name, address):
			return
		}
		select { // that server may be lost, and nobody knows it yet
		case <-time.After(askAgain):
		case <-ctx.Done():
		}
	}
}

// find waits until a match has a server. It returns the server's address, or that the match is here; so is one that does
// not exist.
func (m *Member) find(ctx context.Context, name string) (address string, here bool, err error) {
	err = m.wait(ctx, func() bool {
		e := m.entries[name]
		switch {
		case e == nil || e.State == Failed:
			here = true
		case e.State != Playing || e.Server != m.id && m.leases.Expired(e.Server, m.now()):
			return false
		case e.Server == m.id:
			here = true
		case m.others[e.Server] != nil:
			address = m.others[e.Server].Address
		default:
			return false
		}
		return true
	})
	return address, here, err
}

// pass sends a request about a match to the server at an address. The connection is cut when another server gets the
// match. It reports false, and has not answered, if that server cannot be reached.
func (m *Member) pass(w http.ResponseWriter, r *http.Request, name, address string) bool {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		_ = m.wait(ctx, func() bool {
			e := m.entries[name]
			return e == nil || m.others[e.Server] == nil || m.others[e.Server].Address != address || m.leases.Expired(e.Server, m.now())
		})
		cancel()
	}()
	return m.send(w, r.WithContext(ctx), address)
}

// send passes a request on to another server, or redirects it there. It reports false, and has not answered, if that server
// cannot be reached.
func (m *Member) send(w http.ResponseWriter, r *http.Request, address string) (answered bool) {
	to, err := url.Parse(address)
	if err != nil {
		m.options.Log.Error("a server of the cluster has a bad address", "address", address, "err", err)
		return false
	}
	if m.options.Redirect {
		http.Redirect(w, r, to.JoinPath(r.URL.EscapedPath()).String()+query(r), http.StatusTemporaryRedirect)
		return true
	}
	answered = true
	proxy := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.SetXForwarded()
			p.Out.Header["X-Forwarded-For"] = append(p.In.Header["X-Forwarded-For"], p.Out.Header["X-Forwarded-For"]...)
			p.Out.Host = p.In.Host // which the origin of a browser's page is compared with
			p.Out.Header.Set(hop, m.options.Name)
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			m.options.Log.Debug("request not passed on", "address", address, "err", err)
			answered = false
		},
		ErrorLog: slog.NewLogLogger(m.options.Log.Handler(), slog.LevelDebug),
	}
	proxy.ServeHTTP(w, r)
	return answered
}

func query(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
}

// place sends a request to create a match to the server with the most room for it.
func (m *Member) place(w http.ResponseWriter, r *http.Request, h http.Handler) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxCreation+1))
	if err != nil {
		refuse(w, http.StatusBadRequest, "bad_request", "the body did not arrive whole")
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
	self := m.self()
	address, most := "", 0
	if self.canRun(game, build) {
		most = self.Capacity - self.Matches
	}
	for name, s := range m.others {
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

// refuse answers with an error of the form that lockstep/server has.
func refuse(w http.ResponseWriter, status int, code, message string) {
	type failure struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]failure{"error": {code, message}})
}

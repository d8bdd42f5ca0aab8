package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// maxBody is how large a request's body may be, in bytes.
const maxBody = 64 << 10

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.health)
	mux.Handle("GET /metrics", s.rated(promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP))
	mux.HandleFunc("GET /matches", s.rated(s.list))
	mux.HandleFunc("POST /matches", s.creators)
	mux.HandleFunc("GET /matches/{name}", s.rated(s.show))
	mux.HandleFunc("DELETE /matches/{name}", s.admin(s.end))
	mux.HandleFunc("POST /matches/{name}/{action}", s.admin(s.act))
	mux.HandleFunc("GET /matches/{name}/bans", s.admin(s.listBans))
	mux.HandleFunc("POST /matches/{name}/ban", s.admin(s.ban))
	mux.HandleFunc("POST /matches/{name}/unban", s.admin(s.unban))
	mux.HandleFunc("GET /revocations", s.admin(s.listRevocations))
	mux.HandleFunc("POST /revocations", s.admin(s.revoke))
	mux.HandleFunc("DELETE /revocations", s.admin(s.unrevoke))
	mux.HandleFunc("GET /matches/{name}/play", s.play)
	if s.options.Replays && s.options.Dir != "" {
		mux.HandleFunc("GET /replays", s.rated(s.listReplays))
		mux.HandleFunc("GET /replays/{name}", s.download)
	}
	return mux
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Connection", "close") // nothing else bounds how often it is asked for
	w.Write([]byte("ok\n"))
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	m := s.match(r.PathValue("name"))
	if m == nil {
		http.Error(w, "no such match", http.StatusNotFound)
		return
	}
	reply(w, http.StatusOK, m.View())
}

// admin lets only those pass who show the token of an admin.
func (s *Server) admin(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if g, ok := s.bearer(w, r); ok && granted(w, g.Role == protocol.Admin) {
			next(w, r)
		}
	}
}

// granted answers a request whose token is valid, but not for this.
func granted(w http.ResponseWriter, ok bool) bool {
	if !ok {
		http.Error(w, "refused", http.StatusForbidden)
	}
	return ok
}

// requested returns the match that a request asks for. If there is none, it has
// answered why.
func (s *Server) requested(w http.ResponseWriter, r *http.Request) (spec MatchSpec, ok bool) {
	if s.options.NewMatch == nil {
		http.Error(w, "this server does not take matches over HTTP", http.StatusNotImplemented)
		return spec, false
	}
	spec, err := s.options.NewMatch(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return spec, false
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return spec, false
	}
	return spec, true
}

// created answers whether a match has begun.
func (s *Server) created(w http.ResponseWriter, m *Match, err error) {
	guests := (*guestError)(nil)
	switch {
	case errors.As(err, &guests):
		guests.refuse(w, s)
	case errors.Is(err, ErrExists):
		http.Error(w, err.Error(), http.StatusConflict)
	case errors.Is(err, ErrFull) || errors.Is(err, ErrShutdown):
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		reply(w, http.StatusCreated, m.View())
	}
}

func (s *Server) end(w http.ResponseWriter, r *http.Request) {
	s.do(w, r, func(m *Match, h *host.Host) error { return h.End(m.now(), "ended by an admin") })
}

// act does what the path's last word says.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	number := func(name string) (uint64, bool) {
		n, err := strconv.ParseUint(r.FormValue(name), 10, 16)
		if err != nil {
			http.Error(w, "want "+name+", a number", http.StatusBadRequest)
		}
		return n, err == nil
	}
	name := "seat"
	switch r.PathValue("action") {
	case "pause", "resume", "kick":
	case "speed":
		name = "percent"
	default:
		http.Error(w, "want pause, resume, kick, ban, unban or speed", http.StatusNotFound)
		return
	}
	n, ok := number(name)
	if !ok {
		return
	}
	seat := lockstep.Player(min(n, uint64(lockstep.System)))
	s.do(w, r, func(m *Match, h *host.Host) error {
		switch r.PathValue("action") {
		case "pause":
			return h.Pause(m.now(), seat)
		case "resume":
			return h.Resume(m.now(), seat)
		case "kick":
			return h.Remove(m.now(), seat, "kicked by an admin")
		}
		return h.SetSpeed(m.now(), uint16(n))
	})
}

// do does something in the goroutine of the match that the path names, and answers
// with the match.
func (s *Server) do(w http.ResponseWriter, r *http.Request, f func(*Match, *host.Host) error) {
	s.ask(w, r, f, func(m *Match) { reply(w, http.StatusOK, m.View()) })
}

// ask is do with another answer.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, f func(*Match, *host.Host) error, answer func(*Match)) {
	m := s.match(r.PathValue("name"))
	if m == nil {
		http.Error(w, "no such match", http.StatusNotFound)
		return
	}
	var err error
	if gone := m.Do(r.Context(), func(h *host.Host) {
		err = f(m, h)
		m.publish() // so that the answer shows what was done
	}); gone != nil {
		http.Error(w, gone.Error(), http.StatusGone)
		return
	}
	switch {
	case errors.Is(err, coordinator.ErrBusy): // until the next tick
		w.Header().Set("Retry-After", "1")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, err.Error(), http.StatusConflict)
	default:
		answer(m)
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

package server

import (
	"net/http"
	"slices"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
)

// Guard returns h behind the checks that a Server makes before its own routes: the name of the host, the proxies, the origin of a WebSocket, the
// reads of an address. Control frames of the WebSockets that h accepts are limited. h limits everything else. A program that serves other
// things than matches, such as a mirror, needs a Server without matches for it, and its [Server.Listener].
func (s *Server) Guard(h http.Handler) http.Handler {
	reads := s.access.rateLimited(h.ServeHTTP)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.guarded(w, r, func(w http.ResponseWriter, r *http.Request) {
			if slices.Contains(listed(r.Header, "Upgrade"), "websocket") {
				h.ServeHTTP(&otherHijacker{hijacker{ResponseWriter: w, budgets: s.gates.frames, from: wsmatch.AddressOf(r.RemoteAddr)}}, r)
				return
			}
			reads(w, r)
		})
	})
}

// Admin returns h behind the checks of [Server.Guard], for admins only. What they do is audited.
func (s *Server) Admin(h http.Handler) http.Handler { return s.Guard(s.access.onlyAdmins(h.ServeHTTP)) }

// guarded checks the host of a request, and passes it on as one of its client.
func (s *Server) guarded(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	w = closeOnError{w}
	if !s.hosts.Allow(r) {
		s.turned.away("host", r.RemoteAddr)
		fail(w, codeHost, "host not allowed; see serve --set allowed-host=NAME")
		return
	}
	s.byClient(w, r, s.fromAllowedPage(next))
}

package server

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
)

// fromAllowedPage refuses a WebSocket that the page of another host opens. A browser names the host of the page in
// Origin, and programs send none. The log says what would let the page in.
func (s *Server) fromAllowedPage(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" || !slices.Contains(listed(r.Header, "Upgrade"), "websocket") || s.origins.Allow(origin, r.Host) {
			next(w, r)
			return
		}
		fix := "none: Origin names no host, as browsers do, such as http://play.example"
		if u, err := url.Parse(origin); err == nil && u.Host != "" {
			fix = "the setting origin: " + wsmatch.Clip(u.Host)
		} else if origin == "null" {
			fix = "serve the page by HTTP: a browser names no host of a page from a file"
		}
		s.turned.awayFrom(s.log, "origin", r.RemoteAddr, "origin", wsmatch.Clip(origin), "fix", fix)
		fail(w, codeOrigin, "pages of this origin are not allowed; see serve --set origin=HOST")
	}
}

package server

import (
	"fmt"
	"net/http"
	"net/url"
	pathpkg "path"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
)

// checkOrigins refuses patterns that can match no page.
func checkOrigins(patterns []string) error {
	for _, pattern := range patterns {
		_, after, schemed := strings.Cut(pattern, "://")
		if _, err := pathpkg.Match(pattern, ""); err != nil || strings.Contains(after, "/") || !schemed && strings.Contains(pattern, "/") {
			return fmt.Errorf("server: origin: got %q, want a host, such as play.example or localhost:5173", pattern)
		}
	}
	return nil
}

// fromAllowedPage refuses a WebSocket that the page of another host opens. A browser names the host of the page in
// Origin, and programs send none. The log says what would let the page in.
func (s *Server) fromAllowedPage(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" || !slices.Contains(listed(r.Header, "Upgrade"), "websocket") || s.originAllowed(origin, r.Host) {
			next(w, r)
			return
		}
		fix := "none: Origin names no host, as browsers do, such as http://play.example"
		if u, err := url.Parse(origin); err == nil && u.Host != "" {
			fix = "the setting origin: " + wsmatch.Clip(u.Host)
		} else if origin == "null" {
			fix = "serve the page by HTTP: a browser names no host of a page from a file"
		}
		s.turnedAwayFrom(s.log, "origin", r.RemoteAddr, "origin", wsmatch.Clip(origin), "fix", fix)
		fail(w, codeOrigin, "pages of this origin are not allowed; see serve --set origin=HOST")
	}
}

// originAllowed reports whether a page is of the host of the request, or of one of Options.Origins.
func (s *Server) originAllowed(origin, host string) bool {
	u, err := url.Parse(strings.ToLower(origin))
	if err != nil || u.Host == "" {
		return false
	}
	return strings.EqualFold(u.Host, host) || slices.ContainsFunc(s.options.Origins, func(pattern string) bool {
		target := u.Host
		if strings.Contains(pattern, "://") {
			target = u.Scheme + "://" + u.Host
		}
		ok, err := pathpkg.Match(strings.ToLower(pattern), target)
		return ok && err == nil // checkOrigins has refused malformed patterns
	})
}

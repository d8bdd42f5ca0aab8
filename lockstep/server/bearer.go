package server

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
)

// An address may show maxGuesses wrong tokens and sessions, which come back over
// guessSpan.
const (
	maxGuesses = 20
	guessSpan  = time.Minute
)

// bearer returns what the token of a request entitles to, in the match that its path
// names. If the token is not valid, bearer has counted and answered it. A valid token
// passes however many others its address has guessed: many people can share one.
func (s *Server) bearer(w http.ResponseWriter, r *http.Request) (g host.Grant, ok bool) {
	token, shown := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if shown {
		g, err := s.authorize(token, r.PathValue("name"))
		if err == nil {
			return g, true
		}
	}
	if shown && !s.guessed(of(r.RemoteAddr)) {
		http.Error(w, "too many tokens from your address were refused", http.StatusTooManyRequests)
		return host.Grant{}, false
	}
	http.Error(w, "refused", http.StatusForbidden)
	return host.Grant{}, false
}

// guessed counts a token or session that is not valid. It reports false if there
// were too many from the address.
func (s *Server) guessed(from netip.Prefix) bool {
	ok := s.guesses.spend(from, 1, time.Now())
	if !ok {
		s.metrics.turned.WithLabelValues("guessing").Inc()
	}
	return ok
}

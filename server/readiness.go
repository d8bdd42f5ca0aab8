package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/server/internal/livelog"
)

// NotReady returns the reasons for which the server cannot start another match and write its replay, without paths. It
// is ready if there are none.
func (s *Server) NotReady() (reasons []string) {
	draining, matches, unread := s.registry.load()
	if draining {
		reasons = append(reasons, "the server is shutting down")
	}
	if most := s.gates.limits.Load().MaxMatches; matches >= most {
		reasons = append(reasons, fmt.Sprintf("got %d matches, want less than %d", matches, most))
	}
	if unread > 0 {
		reasons = append(reasons, fmt.Sprintf("the bans of %d matches cannot be read", unread))
	}
	if r := s.options.Replicator; r != nil {
		if err := r.Check(); err != nil {
			reasons = append(reasons, err.Error())
		}
	}
	_, err := s.storage.check()
	switch {
	case err != nil:
		reasons = append(reasons, strings.TrimPrefix(err.Error(), "server: "))
	case s.registry.census().held[livelog.HeldByFullDisk] > 0: // by a quota, perhaps
		reasons = append(reasons, livelog.HeldByFullDisk)
	}
	return reasons
}

// ready answers whether another match could start and be written, and which matches are held.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	reasons := s.NotReady()
	status, lines := http.StatusOK, []string{"ready"}
	if len(reasons) > 0 {
		status, lines = http.StatusServiceUnavailable, []string{"not ready"}
	}
	lines = append(lines, reasons...)
	held := s.registry.census().held
	for _, reason := range slices.Sorted(maps.Keys(held)) {
		if n := held[reason]; n > 0 {
			lines = append(lines, fmt.Sprintf("matches held: %d, because %s", n, reason))
		}
	}
	h := w.Header()
	h.Set("Connection", "close") // the budget of connections is the only limit of this route
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, strings.Join(lines, "\n"))
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if s.registry.isClosed() {
		fail(w, codeShutdown, "shutting down")
		return
	}
	w.Header().Set("Connection", "close") // the budget of connections is the only limit of this route
	w.Write([]byte("ok\n"))
}

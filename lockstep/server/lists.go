package server

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// maxReads is how many lists, matches and metrics one address may read a second.
	maxReads = 50

	// MaxListed is how many matches or replays stand in one answer. Those that
	// follow are asked for with the name of the last one: ?after=NAME.
	MaxListed = 100
)

// rated bounds how often an address may read.
func (s *Server) rated(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.reads.spend(of(r.RemoteAddr), 1, time.Now()) {
			s.metrics.turned.WithLabelValues("reading").Inc()
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests from your address", http.StatusTooManyRequests)
			return
		}
		next(w, r)
	}
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	all := s.Matches()
	after := r.URL.Query().Get("after")
	from, _ := slices.BinarySearchFunc(all, after+"\x00", func(m *Match, name string) int { return strings.Compare(m.Name(), name) })
	views := []View{}
	for _, m := range all[from:min(len(all), from+MaxListed)] {
		views = append(views, m.View())
	}
	reply(w, http.StatusOK, views)
}

func (s *Server) listReplays(w http.ResponseWriter, r *http.Request) {
	all, err := s.recordings.list()
	if err != nil {
		s.log.Error("replays", "err", err)
		http.Error(w, "the replays cannot be listed", http.StatusInternalServerError)
		return
	}
	if after := r.URL.Query().Get("after"); after != "" {
		i := slices.IndexFunc(all, func(x recording) bool { return x.Name == after })
		if i < 0 {
			http.Error(w, "no such replay is listed", http.StatusNotFound)
			return
		}
		all = all[i+1:]
	}
	reply(w, http.StatusOK, all[:min(len(all), MaxListed)])
}

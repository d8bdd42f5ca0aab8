package server

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// MaxListed is the number of matches or replays in one answer. A client gets the next ones with the last name:
// ?after=NAME.
const MaxListed = 100

// rateLimited limits how often an address may call a handler.
func (s *Server) rateLimited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.reads.spend(addressOf(r.RemoteAddr), 1, time.Now()) {
			s.turnedAway("reading", r.RemoteAddr)
			w.Header().Set("Retry-After", "1")
			fail(w, codeRequests, "too many requests from your address")
			return
		}
		next(w, r)
	}
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	all := s.views()
	after := r.URL.Query().Get("after")
	from, _ := slices.BinarySearchFunc(all, after+"\x00", func(v *View, name string) int { return strings.Compare(v.Name, name) })
	reply(w, http.StatusOK, append([]*View{}, all[from:min(len(all), from+MaxListed)]...))
}

// views returns the views of all matches by name, also of those that are recovering.
func (s *Server) views() []*View {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*View
	for _, m := range s.matches {
		if m != nil {
			all = append(all, m.view.Load())
		}
	}
	for _, v := range s.recoveries.pending {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b *View) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (s *Server) listReplays(w http.ResponseWriter, r *http.Request) {
	q, err := archiveQuery(r.URL.Query())
	switch {
	case err != nil:
		fail(w, codeRequest, err.Error())
		return
	case s.options.Archive != nil:
		s.search(w, r, q)
		return
	case q.searches():
		fail(w, codeUnsupported, "this server has no archive, so it cannot search")
		return
	}
	all, err := s.replays.list()
	if err != nil {
		s.log.Error("replays", "err", err)
		fail(w, codeInternal, "the replays cannot be listed")
		return
	}
	if after := r.URL.Query().Get("after"); after != "" {
		i := slices.IndexFunc(all, func(f replayFile) bool { return f.Name == after })
		if i < 0 {
			fail(w, codeNoReplay, "no such replay is listed")
			return
		}
		all = all[i+1:]
	}
	reply(w, http.StatusOK, all[:min(len(all), MaxListed)])
}

// download sends a replay, or the part of it that the request's Range names.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	from := addressOf(r.RemoteAddr)
	if !s.replays.startDownload(from) {
		s.turnedAway("downloading", r.RemoteAddr)
		w.Header().Set("Retry-After", "5")
		fail(w, codeBusy, "too many replays are being sent")
		return
	}
	defer s.replays.endDownload(from)
	name := r.PathValue("name")
	f, written, ok := s.openReplay(w, r)
	if !ok {
		return
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache") // sealing replaces the file
	http.ServeContent(&foreignErrors{ResponseWriter: w}, r, name, written, f)
}

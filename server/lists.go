package server

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxListed is the number of matches or replays in one answer. A client gets the next ones with the last name:
// ?after=NAME.
const MaxListed = 100

// rateLimited limits how often an address may call a handler.
func (s *Server) rateLimited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if from := addressOf(r.RemoteAddr); !s.gates.reads.Spend(from, 1, time.Now()) && !s.reserved(r, from) {
			s.turnedAway("reading", r.RemoteAddr)
			w.Header().Set("Retry-After", "1")
			fail(w, codeRequests, "too many requests from your address")
			return
		}
		next(w, r)
	}
}

// A matchQuery says which matches are wanted. Each empty text admits all.
type matchQuery struct {
	state, game, build, prefix, after string
	limit                             int
}

func newMatchQuery(v url.Values) (q matchQuery, err error) {
	q = matchQuery{v.Get("state"), v.Get("game"), v.Get("build"), v.Get("prefix"), v.Get("after"), MaxListed}
	if text := v.Get("limit"); text != "" {
		if q.limit, err = strconv.Atoi(text); err != nil || q.limit < 1 || q.limit > MaxListed {
			return q, fmt.Errorf("limit: got %q, want 1 to %d", text, MaxListed)
		}
	}
	for s := matchRecovering; q.state != "" && s.String() != q.state; s++ {
		if s == matchEnded {
			return q, fmt.Errorf("state: got %q, want recovering, failed, lobby, playing, paused, held or ended", q.state)
		}
	}
	return q, nil
}

func (q *matchQuery) admits(v *View) bool {
	is := func(want, got string) bool { return want == "" || got == want }
	return v.Name > q.after && strings.HasPrefix(v.Name, q.prefix) && is(q.state, v.State) && is(q.game, v.Game) && is(q.build, v.Build)
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	q, err := newMatchQuery(r.URL.Query())
	if err != nil {
		fail(w, codeRequest, err.Error())
		return
	}
	who := s.listReader(r)
	found := slices.DeleteFunc(s.views(), func(v *View) bool { return !q.admits(v) })
	if len(found) > q.limit {
		found = found[:q.limit]
		linkNext(w, r, found[q.limit-1].Name)
	}
	told := make([]toldView, len(found))
	for i, v := range found {
		told[i] = v.told(who)
	}
	reply(w, http.StatusOK, told)
}

// views returns the views of all matches by name, also of those that are recovering or could not be resumed.
func (s *Server) views() []*View {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []*View{}
	for _, m := range s.matches {
		if m != nil {
			all = append(all, m.view.Load())
		}
	}
	for _, v := range s.recoveries.pending {
		all = append(all, v)
	}
	for _, f := range s.recoveries.failed {
		if f.view != nil {
			all = append(all, f.view)
		}
	}
	slices.SortFunc(all, func(a, b *View) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// hides reports whether a match that is not over hides something, also one that another server continues. The metrics count nothing of
// a match that does not run.
func (s *Server) hides() bool {
	for _, v := range s.views() {
		if (v.hung || v.State != matchRecovering.String() && v.State != matchFailed.String()) && !v.over && v.disclosed.Hides() {
			return true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.past, func(how making) bool { return !how.over && how.disclosed.Hides() })
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
	who, ok := s.replayReader(w, r, "", true)
	if !ok || !permitted(w, s.showsReplays(r) || who.all) {
		return
	}
	all, err := s.replays.list()
	if err != nil {
		s.log.Error("replays", "err", err)
		fail(w, codeInternal, "the replays cannot be listed")
		return
	}
	if q.After != "" {
		name, ended, isCursor := ParseCursor(q.After)
		if i := slices.IndexFunc(all, func(f replayFile) bool { return f.Name == q.After }); i >= 0 {
			name, ended = all[i].Name, all[i].Ended
		} else if !isCursor {
			fail(w, codeNoReplay, "no such replay is listed")
			return
		}
		all = slices.Clone(all) // it is cached
		all = slices.DeleteFunc(all, func(f replayFile) bool { return f.Ended.After(ended) || f.Ended.Equal(ended) && f.Name <= name })
	}
	if len(all) > MaxListed {
		all = all[:MaxListed]
		linkNext(w, r, Cursor(all[MaxListed-1].Name, all[MaxListed-1].Ended))
	}
	reply(w, http.StatusOK, all)
}

// Cursor returns where a list of files ends, for [ArchiveQuery.After]: after the file with this name and end, which may be deleted
// meanwhile.
func Cursor(name string, ended time.Time) string { return fmt.Sprintf("%s@%d", name, ended.Unix()) }

// ParseCursor returns the parts of a cursor.
func ParseCursor(text string) (name string, ended time.Time, ok bool) {
	name, seconds, ok := strings.Cut(text, "@") // which no name of a file has
	n, err := strconv.ParseInt(seconds, 10, 64)
	return name, time.Unix(n, 0), ok && err == nil
}

// downloads limits how many answers of a handler are sent at a time.
func (s *Server) downloads(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from := addressOf(r.RemoteAddr)
		if !s.replays.startDownload(from) {
			s.turnedAway("downloading", r.RemoteAddr)
			w.Header().Set("Retry-After", "5")
			fail(w, codeBusy, "too many files are being sent")
			return
		}
		defer s.replays.endDownload(from)
		next(w, r)
	}
}

// download sends a replay, or the part of it that the request's Range names.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
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

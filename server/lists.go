package server

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
)

// MaxListed is the number of matches or replays in one answer. A client gets the next ones with the last name:
// ?after=NAME.
const MaxListed = 100

// rateLimited limits how often an address may call a handler.
func (ac *access) rateLimited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if from := wsmatch.AddressOf(r.RemoteAddr); !ac.gates.reads.Spend(from, 1, time.Now()) && !ac.reserved(r, from) {
			ac.turned.away("reading", r.RemoteAddr)
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

func (ma *matchAPI) list(w http.ResponseWriter, r *http.Request) {
	q, err := newMatchQuery(r.URL.Query())
	if err != nil {
		fail(w, codeRequest, err.Error())
		return
	}
	who := ma.access.listReader(r)
	found := slices.DeleteFunc(ma.registry.views(), func(v *View) bool { return !q.admits(v) })
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

func (ra *replayAPI) listReplays(w http.ResponseWriter, r *http.Request) {
	q, err := archiveQuery(r.URL.Query())
	switch {
	case err != nil:
		fail(w, codeRequest, err.Error())
		return
	case ra.archive != nil:
		ra.search(w, r, q)
		return
	case q.searches():
		fail(w, codeUnsupported, "this server has no archive, so it cannot search")
		return
	}
	who, ok := ra.replayReader(w, r, "", true)
	if !ok || !permitted(w, ra.showsReplays(r) || who.all) {
		return
	}
	all, err := ra.replays.list()
	if err != nil {
		ra.log.Error("replays", "err", err)
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

// limited limits how many answers of a handler are sent at a time.
func (ra *replayAPI) limited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from := wsmatch.AddressOf(r.RemoteAddr)
		if !ra.replays.startDownload(from) {
			ra.turned.away("downloading", r.RemoteAddr)
			w.Header().Set("Retry-After", "5")
			fail(w, codeBusy, "too many files are being sent")
			return
		}
		defer ra.replays.endDownload(from)
		next(w, r)
	}
}

// download sends a replay, or the part of it that the request's Range names.
func (ra *replayAPI) download(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	f, written, ok := ra.openReplay(w, r)
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

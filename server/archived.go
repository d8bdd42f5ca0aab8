package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server/internal/front"
)

// archivedName takes the name of a match out of the name of its replay, of a bundle or of the page about one.
var archivedName = regexp.MustCompile(`^([A-Za-z0-9_-][A-Za-z0-9._-]{0,63})-[0-9a-f]{8}(-(?:desync|panic)-[a-z0-9-]{1,40})?\.(ssr|zip|html)$`)

// A replayReader says which replays a request may read.
type replayReader struct {
	all     bool // also bundles, and the replays of any player
	subject string
}

// A replayAPI answers requests for replays.
type replayAPI struct {
	replays *replayFolder
	archive Archive // or nil
	public  bool    // everybody may read replays
	here    bool    // with public: only on this machine
	bundles bool    // with public: also bundles
	access  *access
	turned  *turned
	log     *slog.Logger
}

// showsReplays reports whether a request may read replays without a token.
func (ra *replayAPI) showsReplays(r *http.Request) bool {
	return ra.public && (!ra.here || front.IsHere(r))
}

// replayReader authenticates a request for replays of a match; "" for all matches. A request that showsReplays admits may read replays, but
// nothing else. It answers a request that it refuses.
func (ra *replayAPI) replayReader(w http.ResponseWriter, r *http.Request, match string, public bool) (who replayReader, ok bool) {
	if public && ra.showsReplays(r) {
		return replayReader{}, true
	}
	g, ok := ra.access.authenticate(w, r, match)
	if !ok || !permitted(w, g.Role == protocol.Admin || g.Role == protocol.Seated && public && !g.Guest) {
		return who, false
	}
	return replayReader{all: g.Role == protocol.Admin, subject: g.Subject}, true
}

// may reports whether a file can be read.
func (who *replayReader) may(public bool, a *Archived) bool {
	return public || who.all || slices.Contains(slices.Collect(maps.Values(a.Subjects)), who.subject)
}

// archiveQuery reads the search of a request.
func archiveQuery(v url.Values) (q ArchiveQuery, err error) {
	q = ArchiveQuery{
		Kind: v.Get("kind"), Player: v.Get("player"), Subject: v.Get("subject"), Match: v.Get("match"), Game: v.Get("game"),
		Build: v.Get("build"), Result: v.Get("result"), After: v.Get("after"),
	}
	switch q.Kind {
	case "", "replay", "bundle", "page":
	default:
		return q, errors.New("kind: want replay, bundle or page")
	}
	for name, to := range map[string]*time.Time{"since": &q.Since, "until": &q.Until} {
		text := v.Get(name)
		if text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			at, err = time.Parse(time.DateOnly, text)
		}
		if err != nil {
			return q, errors.New(name + ": want a time such as 2026-05-01 or 2026-05-01T12:00:00Z")
		}
		*to = at
	}
	return q, nil
}

// search answers with the archived files that a request asks for.
func (ra *replayAPI) search(w http.ResponseWriter, r *http.Request, q ArchiveQuery) {
	who, ok := ra.replayReader(w, r, q.Match, (q.Kind == "" || q.Kind == "replay") && q.Subject == "")
	if !ok {
		return
	}
	if !who.all && who.subject != "" { // others may be found only by who they are in the game
		q.Subject = who.subject
	}
	found, next, err := ra.archive.Find(r.Context(), q)
	switch {
	case errors.Is(err, ErrQuery):
		fail(w, codeNoReplay, "no such replay is listed")
	case err != nil:
		ra.log.Error("replays", "err", err)
		fail(w, codeInternal, "the replays cannot be listed")
	default:
		if next != "" {
			linkNext(w, r, next)
		}
		reply(w, http.StatusOK, found)
	}
}

// noReplay answers a request for a replay that does not exist, that is not finished, or that the client may not read.
const noReplay = "no such replay, or its match is not over"

// openReplay opens a file for a request, from the server's folder or the archive. It answers a request that it refuses.
func (ra *replayAPI) openReplay(w http.ResponseWriter, r *http.Request) (f io.ReadSeekCloser, written time.Time, ok bool) {
	name := r.PathValue("name")
	shown := ra.showsReplays(r)
	public := replayName.MatchString(name) || shown && ra.bundles && isBundle(name)
	if !public && (ra.archive == nil || matchOf(name) == "") {
		fail(w, codeNoReplay, noReplay)
		return nil, written, false
	}
	who, ok := ra.replayReader(w, r, matchOf(name), public)
	if !ok {
		return nil, written, false
	}
	if public && (shown || who.all) {
		file, info, err := ra.replays.openFile(name)
		if err == nil {
			return file, info.ModTime(), true
		}
		if !errors.Is(err, fs.ErrNotExist) {
			ra.log.Error("replay", "name", name, "err", err)
		}
	}
	err := fs.ErrNotExist
	if ra.archive != nil {
		f, written, err = ra.openArchived(r, &who, public && shown)
		if errors.Is(err, fs.ErrNotExist) && public && isBundle(name) && r.Header.Get("Authorization") != "" { // only an admin has it then
			g, ok := ra.access.authenticate(w, r, matchOf(name))
			if !ok {
				return nil, written, false
			}
			who.all = g.Role == protocol.Admin
			f, written, err = ra.openArchived(r, &who, true)
		}
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			ra.log.Error("replay", "name", name, "err", err)
		}
		fail(w, codeNoReplay, noReplay)
		return nil, written, false
	}
	return f, written, true
}

// openArchived opens a file of the archive. A file that the reader may not read does not exist.
func (ra *replayAPI) openArchived(r *http.Request, who *replayReader, public bool) (io.ReadSeekCloser, time.Time, error) {
	a, err := ra.archive.Get(r.Context(), r.PathValue("name"))
	if err == nil && !who.may(public, &a) {
		err = fs.ErrNotExist
	}
	if err == nil && !who.all && isBundle(a.Name) { // that of a running match would reveal its state
		var match Archived
		if match, err = ra.archive.Get(r.Context(), ReplayOf(a.Name)); err == nil && !strings.HasPrefix(match.ID, a.ID) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	if f, _, err := ra.replays.open(a.Name); err == nil { // it waits for the store
		return f, a.Ended, nil
	}
	f, err := ra.archive.Open(r.Context(), a.Name)
	return f, a.Ended, err
}

// matchOf returns the match's name in the name of a file, or "".
func matchOf(name string) string {
	if words := archivedName.FindStringSubmatch(name); words != nil {
		return words[1]
	}
	return ""
}

// deleteReplay deletes a replay with its bundles and their pages, or a bundle with its page, for an admin.
func (ra *replayAPI) deleteReplay(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	g, ok := ra.access.authenticate(w, r, matchOf(name))
	if !ok || !permitted(w, g.Role == protocol.Admin) {
		return
	}
	err := error(fs.ErrNotExist)
	if ra.archive != nil {
		err = ra.archive.Delete(r.Context(), name)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		if lerr := ra.replays.remove(name); !errors.Is(lerr, fs.ErrNotExist) {
			err = lerr
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fail(w, codeNoReplay, noReplay)
	case err != nil:
		ra.log.Error("replay", "name", name, "err", err)
		fail(w, codeInternal, "the replay cannot be deleted")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// open is Server.OpenReplay.
func (ra *replayAPI) open(ctx context.Context, name string) (*os.File, error) {
	if ra.replays.dir != "" {
		if f, _, err := ra.replays.open(name); err == nil {
			return f, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	var stored io.ReadSeekCloser
	err := error(fs.ErrNotExist)
	if ra.archive != nil && replayName.MatchString(name) {
		stored, err = ra.archive.Open(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("server: replay %.128q: %w", name, err)
	}
	if f, ok := stored.(*os.File); ok {
		return f, nil
	}
	defer stored.Close()
	return copyToTemporary(stored)
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
	case q != (ArchiveQuery{After: q.After}): // which needs an index
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
		all = slices.DeleteFunc(slices.Clone(all), func(f replayFile) bool { return f.Ended.After(ended) || f.Ended.Equal(ended) && f.Name <= name })
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
		done, ok := ra.replays.downloads.Take(wsmatch.AddressOf(r.RemoteAddr), maxDownloads, maxDownloadsEach)
		if !ok {
			ra.turned.away("downloading", r.RemoteAddr)
			failFor(w, 5, codeBusy, "too many files are being sent")
			return
		}
		defer done()
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
	sendsFile(w, name, "no-cache") // sealing replaces the file
	http.ServeContent(&foreignErrors{ResponseWriter: w}, r, name, written, f)
}

package server

import (
	"errors"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	// maxReplays is how many replays are listed: the latest.
	maxReplays = 1000

	// maxDownloads is how many replays are being sent at a time.
	maxDownloads = 64

	// maxDownloadsEach is how many of them one address is sent.
	maxDownloadsEach = 8

	// listAge is for how long a list of the directory is good.
	listAge = time.Second
)

// A recording is a replay that can be downloaded.
type recording struct {
	Name      string    `json:"name"` // of the file
	SizeBytes int64     `json:"size_bytes,string"`
	Ended     time.Time `json:"ended"` // when it was written last
}

// recordings are the replays of the directory whose matches are over. Whether one
// is, its file's lock says, so that several servers can share a directory.
type recordings struct {
	dir string

	mu      sync.Mutex
	live    map[string]bool // names of those that this server writes, where files have no locks
	known   []recording
	read    time.Time // when known was
	sending map[netip.Prefix]int
	all     int // in sending
}

var recordingForm = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\.ssr$`)

// list returns the replays of matches that are over, the latest first. Those of
// matches that go on would show the state to whoever may not watch.
func (r *recordings) list() ([]recording, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known != nil && time.Since(r.read) < listAge {
		return r.known, nil
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, err
	}
	all := []recording{}
	for _, e := range entries {
		if !recordingForm.MatchString(e.Name()) || !e.Type().IsRegular() || r.live[e.Name()] {
			continue
		}
		if info, err := e.Info(); err == nil { // else it is gone again
			all = append(all, recording{e.Name(), info.Size(), info.ModTime().UTC().Truncate(time.Second)})
		}
	}
	slices.SortFunc(all, func(a, b recording) int {
		if c := b.Ended.Compare(a.Ended); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	over := all[:0]
	for _, x := range all {
		if len(over) == maxReplays {
			break
		}
		if f, _, err := openOver(filepath.Join(r.dir, x.Name)); err == nil {
			f.Close()
			over = append(over, x)
		}
	}
	r.known, r.read = slices.Clip(over), time.Now()
	return r.known, nil
}

// written notes whether a replay is being written.
func (r *recordings) written(name string, now bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now {
		r.live[name] = true
	} else {
		delete(r.live, name)
	}
	r.known = nil
}

// open opens a replay that can be downloaded.
func (r *recordings) open(name string) (*os.File, fs.FileInfo, error) {
	r.mu.Lock()
	live := r.live[name]
	r.mu.Unlock()
	if live || !recordingForm.MatchString(name) {
		return nil, nil, fs.ErrNotExist
	}
	return openOver(filepath.Join(r.dir, name))
}

// openOver opens the replay of a match that is over.
func openOver(path string) (*os.File, fs.FileInfo, error) {
	f, err := files.OpenNoFollow(path)
	if err != nil {
		return nil, nil, err
	}
	live, err := replay.Locked(f)
	if err == nil && live {
		err = fs.ErrNotExist
	}
	var info fs.FileInfo
	if err == nil {
		info, err = f.Stat()
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// take counts a download of an address, unless there are too many.
func (r *recordings) take(from netip.Prefix) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all >= maxDownloads || r.sending[from] >= maxDownloadsEach {
		return false
	}
	r.all++
	r.sending[from]++
	return true
}

func (r *recordings) release(from netip.Prefix) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all--
	if r.sending[from]--; r.sending[from] == 0 {
		delete(r.sending, from)
	}
}

// download sends a replay, or the part of it that the request's Range names.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	from := of(r.RemoteAddr)
	if !s.recordings.take(from) {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many replays are being sent", http.StatusServiceUnavailable)
		return
	}
	defer s.recordings.release(from)
	name := r.PathValue("name")
	f, info, err := s.recordings.open(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.log.Error("replay", "name", name, "err", err)
		}
		http.Error(w, "no such replay, or its match is not over", http.StatusNotFound)
		return
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache") // a file of that name is made once, but can be sealed in place
	http.ServeContent(w, r, name, info.ModTime(), f)
}

package server

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	// maxReplays is the number of replays that are listed: the latest ones.
	maxReplays = 1000

	// maxDownloads is the number of replays that are sent at the same time.
	maxDownloads = 64

	// maxDownloadsEach is the number of these for one address.
	maxDownloadsEach = 8

	// listAge is the time for which a list of the folder is cached.
	listAge = time.Second
)

// liveFolder is the folder in Options.Dir with the logs of matches that are not over. A start reads only these.
const liveFolder = "live"

// A replayFile is a replay that can be downloaded.
type replayFile struct {
	Name      string    `json:"name"` // of the file
	SizeBytes int64     `json:"size_bytes,string"`
	Ended     time.Time `json:"ended"` // time of the last write
}

// A replayFolder has the replays of finished matches. A match is finished when its replay's file is not locked, which
// also holds if another server writes it.
type replayFolder struct {
	dir string

	reading sync.Mutex // held while the folder is read, which lasts for as long as its disk does not answer

	mu        sync.Mutex
	live      map[string]bool // names of the files that this server writes, for systems without locks
	listed    []replayFile
	listedAt  time.Time
	changes   uint64 // of live
	sending   map[netip.Prefix]int
	downloads int // sum of sending
}

var replayName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\.ssr$`)

// evidenceName takes the name of a replay's file, without its extension, out of the name of a bundle or of the page about one. The end is
// always the server's, so a match that is named like a bundle does not mislead it.
var evidenceName = regexp.MustCompile(`^(.+)-(?:desync|panic)-[0-9]+-(player[0-9]+|tie|server)\.(zip|html)$`)

// ReplayOf returns the name of the replay that a bundle, or the page about one, belongs to by its name: "" for any other name.
func ReplayOf(name string) string {
	if words := evidenceName.FindStringSubmatch(name); words != nil {
		return words[1] + ".ssr"
	}
	return ""
}

// isBundle reports whether a file has the name of a bundle.
func isBundle(name string) bool {
	return filepath.Ext(name) == ".zip" && replayName.MatchString(ReplayOf(name))
}

// list returns the replays of finished matches, the latest first. The replay of a running match would reveal its state.
func (r *replayFolder) list() ([]replayFile, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.mu.Lock()
	listed, changes, age := r.listed, r.changes, time.Since(r.listedAt)
	live := maps.Clone(r.live)
	r.mu.Unlock()
	if listed != nil && age < listAge {
		return listed, nil
	}
	all, err := r.files(live)
	if err != nil {
		return nil, err
	}
	finished := all[:0]
	for _, x := range all {
		if len(finished) == maxReplays {
			break
		}
		if f, _, err := openFinished(filepath.Join(r.dir, x.Name)); err == nil {
			f.Close()
			finished = append(finished, x)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changes == changes {
		r.listed, r.listedAt = slices.Clip(finished), time.Now()
	}
	return finished, nil
}

// files returns the replays of the folder besides the live ones, the latest first.
func (r *replayFolder) files(live map[string]bool) ([]replayFile, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, err
	}
	all := []replayFile{}
	for _, e := range entries {
		if !replayName.MatchString(e.Name()) || !e.Type().IsRegular() || live[e.Name()] {
			continue
		}
		if info, err := e.Info(); err == nil { // otherwise it was removed
			all = append(all, replayFile{e.Name(), info.Size(), info.ModTime().UTC().Truncate(time.Second)})
		}
	}
	slices.SortFunc(all, func(a, b replayFile) int {
		return cmp.Or(b.Ended.Compare(a.Ended), strings.Compare(a.Name, b.Name))
	})
	return all, nil
}

// setLive records whether this server writes a replay.
func (r *replayFolder) setLive(name string, live bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if live {
		r.live[name] = true
	} else {
		delete(r.live, name)
	}
	r.listed = nil
	r.changes++
}

// openFile opens the replay of a finished match, or a desync bundle of one.
func (r *replayFolder) openFile(name string) (*os.File, fs.FileInfo, error) {
	if !isBundle(name) {
		return r.open(name)
	}
	match, _, err := r.open(ReplayOf(name)) // the bundle of a running match would reveal its state
	if err != nil {
		return nil, nil, err
	}
	match.Close()
	return openFinished(filepath.Join(r.dir, name))
}

// evidence returns the paths of the bundles and pages that belong to a replay.
func (r *replayFolder) evidence(replay string) (paths []string, err error) {
	entries, err := os.ReadDir(r.dir)
	for _, e := range entries {
		if ReplayOf(e.Name()) == replay && e.Type().IsRegular() {
			paths = append(paths, filepath.Join(r.dir, e.Name()))
		}
	}
	return paths, err
}

// open opens the replay of a finished match.
func (r *replayFolder) open(name string) (*os.File, fs.FileInfo, error) {
	r.mu.Lock()
	live := r.live[name]
	r.mu.Unlock()
	if live || !replayName.MatchString(name) {
		return nil, nil, fs.ErrNotExist
	}
	return openFinished(filepath.Join(r.dir, name))
}

// openFinished opens the replay of a finished match.
func openFinished(path string) (*os.File, fs.FileInfo, error) {
	f, err := files.OpenNoFollow(path)
	if err != nil {
		return nil, nil, err
	}
	live, err := replay.Locked(f)
	if err == nil && disclosure.Secret.Files(disclosure.Spectator, !live) != nil { // an admin has GET /matches/NAME/save
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

// startDownload counts a download of an address, or reports false at a limit.
func (r *replayFolder) startDownload(from netip.Prefix) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.downloads >= maxDownloads || r.sending[from] >= maxDownloadsEach {
		return false
	}
	r.downloads++
	r.sending[from]++
	return true
}

func (r *replayFolder) endDownload(from netip.Prefix) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.downloads--
	if r.sending[from]--; r.sending[from] == 0 {
		delete(r.sending, from)
	}
}

// archived returns the path of a replay once its match is over: in the folder, if its log is in the live folder.
func (r *replayFolder) archived(path string) string {
	dir, name := filepath.Split(path)
	if r.dir == "" || filepath.Clean(dir) != filepath.Join(r.dir, liveFolder) {
		return path
	}
	return filepath.Join(r.dir, name)
}

// remove removes the replay of a finished match from the folder, after its bundles and their pages. Of these it removes
// one alone, but a bundle with its page, also if the replay is gone.
func (r *replayFolder) remove(name string) error {
	if of := ReplayOf(name); of != "" {
		return r.removeEvidence(name, of)
	}
	f, _, err := r.open(name)
	if err != nil {
		return err
	}
	f.Close() // Windows removes no open file
	evidence, err := r.evidence(name)
	for _, path := range evidence {
		if rerr := os.Remove(path); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	if err != nil {
		return err // the replay stays, so that it can be deleted again
	}
	err = os.Remove(filepath.Join(r.dir, name))
	r.setLive(name, false)
	return err
}

// removeEvidence removes a bundle with its page, or a page, of a match that is over.
func (r *replayFolder) removeEvidence(name, of string) error {
	if _, err := os.Lstat(filepath.Join(r.dir, liveFolder, of)); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, fs.ErrNotExist) // it runs, or waits to be resumed
	}
	f, _, err := r.open(of)
	if err == nil {
		f.Close()
	} else if _, lerr := os.Lstat(filepath.Join(r.dir, of)); !errors.Is(lerr, fs.ErrNotExist) {
		return err
	}
	err = os.Remove(filepath.Join(r.dir, name))
	if err == nil && isBundle(name) {
		if err = os.Remove(filepath.Join(r.dir, trimExt(name)+".html")); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

func trimExt(path string) string { return path[:len(path)-len(filepath.Ext(path))] }

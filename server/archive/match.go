//go:build !js

package archive

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-49bee653/samestep/server"
)

// stem is a name without its extension.
func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// A state is where a file is on its way through the archive. A file of which nothing is known has none.
//
//	waiting ◄─► stored
//	   └──────────┴──► deleting
type state string

const (
	waiting  state = "waiting"  // it is in a server's folder, and the store does not have it for certain
	stored   state = "stored"   // the store has it
	deleting state = "deleting" // nobody gets it any more; a folder or the store may still have it
)

// A match is what the index knows about the files of one match: its replay, its bundles, and the pages about them. It does
// no I/O. A match is its ID and the name of its replay: other matches have either another name or another ID.
type match struct {
	Replay string           `json:"replay"`       // the name of its replay, which may be missing
	ID     string           `json:"id,omitempty"` // as many digits as are known
	Files  map[string]*file `json:"files"`        // by name
}

// A file is a file of a match. One that is deleted is a tombstone, which stays as long as the file can come back.
type file struct {
	State     state  `json:"state"`
	SizeBytes int64  `json:"bytes,omitempty"`
	Path      string `json:"path,omitempty"`   // of a tombstone: where the file waited
	Waits     bool   `json:"waits,omitempty"`  // a server has it in its folder; of a tombstone: another one, which has not removed it yet
	Until     int64  `json:"until,omitempty"`  // of a tombstone: the time in seconds until which the store may still do what it was asked before
	Erased    int64  `json:"erased,omitempty"` // of a tombstone: when the file was deleted from the folder and the store; 0 for not, or not again
}

// lateTime is how long after a request, and the time that it may take, a store may still do what it was asked.
const lateTime = time.Hour

// bury turns a file into a tombstone. The file waits at a path, unless that is empty.
func (f *file) bury(path string, now time.Time) {
	f.Waits = f.Waits && path == ""
	f.State, f.Path, f.Erased = deleting, path, 0
	f.Until = now.Add(lateTime + timeFor(f.SizeBytes)).Unix()
}

// due reports whether a file is to be deleted now. It is deleted at once, and again when the store has certainly done what it was asked.
func (f file) due(now int64) bool {
	return f.State == deleting && (f.Erased == 0 || f.Erased < f.Until && f.Until <= now)
}

// over reports whether a tombstone may go.
func (f *file) over() bool {
	return f.State == deleting && !f.Waits && f.Erased > 0 && f.Erased >= f.Until
}

// replayOf returns the name of the replay that a file belongs to: itself for a replay.
func replayOf(name string) string {
	if replay := server.ReplayOf(name); replay != "" {
		return replay
	}
	return name
}

// agrees reports whether two IDs can be of the same match. The name of a bundle has only the first digits of one.
func agrees(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// ends reports whether the match itself is deleted, with its replay.
func (m *match) ends() bool {
	f := m.Files[m.Replay]
	return f != nil && f.State == deleting
}

// deletes reports whether a file of the match is deleted, or would be if it came.
func (m *match) deletes(name string) bool {
	f := m.Files[name]
	return m.ends() || f != nil && f.State == deleting
}

// file returns what is known of a file, which may be nothing.
func (m *match) file(name string) file {
	if f := m.Files[name]; f != nil {
		return *f
	}
	return file{}
}

// put notes that a file waits or is stored, or both, and reports false for one that is deleted.
func (m *match) put(name, id string, s state, sizeBytes int64, waits bool) bool {
	if m.deletes(name) {
		return false
	}
	if len(id) > len(m.ID) {
		m.ID = id
	}
	m.Files[name] = &file{State: s, SizeBytes: sizeBytes, Waits: waits}
	return true
}

// lose notes that neither the store nor a folder has a file any more. A tombstone stays.
func (m *match) lose(name string) {
	if f := m.Files[name]; f != nil && f.State != deleting {
		delete(m.Files, name)
	}
}

// erase begins to delete a file of the match: with the replay all others, and with a bundle its page. Those that wait are at
// these paths. It returns the names of the files that are deleted.
func (m *match) erase(name string, paths map[string]string, now time.Time) (names []string) {
	for _, n := range slices.Sorted(maps.Keys(m.Files)) {
		f := m.Files[n]
		if f.State != deleting && (n == name || name == m.Replay || kindOf(name) == kindBundle && stem(n) == stem(name)) {
			f.bury(paths[n], now)
			names = append(names, n)
		}
	}
	return names
}

// erased notes that a file that was to be deleted is nowhere now, and returns the names whose tombstones go. That of the replay,
// which keeps out what comes late, stays until every other file is gone.
func (m *match) erased(name string, now int64) (over []string) {
	if f := m.Files[name]; f != nil {
		f.Erased = now
	}
	for n, f := range m.Files {
		if f.over() && n != m.Replay {
			delete(m.Files, n)
			over = append(over, n)
		}
	}
	if f := m.Files[m.Replay]; f != nil && f.over() && len(m.Files) == 1 {
		delete(m.Files, m.Replay)
		over = append(over, m.Replay)
	}
	return over
}

// comeBack notes that a deleted file was seen again, or that its server has removed it from its folder now.
func (m *match) comeBack(name string, removed bool, now time.Time) {
	f := m.Files[name]
	if f == nil { // it comes late, and the match is deleted
		f = &file{}
		m.Files[name] = f
	}
	waits := f.Waits && !removed
	f.bury(f.Path, now)
	f.Waits = waits
}

// with returns the stored bundles and pages that go with a file, and itself if it is one: all of them with the replay, and otherwise a
// bundle and its page.
func (m *match) with(name string) (names []string) {
	for n, f := range m.Files {
		if kindOf(n) != kindReplay && f.State == stored && (name == m.Replay || stem(n) == stem(name)) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

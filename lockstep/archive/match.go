//go:build !js

package archive

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/lockstep/server"
)

// A state is where a match is on its way through the archive.
//
//	gone ──► waiting ◄─► storing ──► stored ──► deleting ──► gone
//	            └───────────┴───────────────────────▲
type state string

const (
	gone     state = "gone"     // the archive has no file of it
	waiting  state = "waiting"  // a file is in a server's folder, and not in the store
	storing  state = "storing"  // one of these is on its way
	stored   state = "stored"   // the store has all files
	deleting state = "deleting" // nobody gets a file of it any more; the store may still have some
)

// A match is what the index knows about the files of one match: its replay, its bundles, and the pages about them. It does
// no I/O. A match is its ID and the name of its replay: other matches have either another name or another ID.
type match struct {
	Replay string           `json:"replay"`       // the name of its replay, which may be missing
	ID     string           `json:"id,omitempty"` // as many digits as are known
	Files  map[string]*file `json:"files"`        // by name
}

// A file is a file of a match.
type file struct {
	State     state `json:"state"` // waiting, stored or deleting
	SizeBytes int64 `json:"bytes,omitempty"`
	Erased    bool  `json:"erased,omitempty"` // it is nowhere any more, so only its tombstone is left
}

// replayOf returns the name of the replay that a file belongs to: itself for a replay, and for a file that has none.
func replayOf(name string) string {
	if replay := server.ReplayOf(name); replay != "" {
		return replay
	}
	return name
}

// agrees reports whether two IDs can be of the same match. The name of a bundle has only the first digits of one.
func agrees(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// state returns the state of the match while a file, or none, is on its way to the store.
func (m *match) state(moving string) state {
	if m.ends() {
		return deleting
	}
	s := gone
	for name, f := range m.Files { // the order does not matter: each state has a rank
		switch {
		case name == moving && f.State != deleting:
			return storing
		case f.State == waiting, f.State == stored && s != waiting, s == gone:
			s = f.State
		}
	}
	return s
}

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

// put notes that a file waits or is stored, and reports false for one that is deleted.
func (m *match) put(name, id string, s state, sizeBytes int64) bool {
	if m.deletes(name) {
		return false
	}
	if len(id) > len(m.ID) {
		m.ID = id
	}
	m.Files[name] = &file{State: s, SizeBytes: sizeBytes}
	return true
}

// lose notes that neither the store nor a folder has a file any more. A tombstone stays.
func (m *match) lose(name string) {
	if f := m.Files[name]; f != nil && f.State != deleting {
		delete(m.Files, name)
	}
}

// erase begins to delete a file, or the whole match with its replay, of which further files wait. It returns the names of the
// files that are deleted.
func (m *match) erase(name string, wait ...string) []string {
	names := []string{name}
	if name == m.Replay {
		names = slices.AppendSeq(append(names, wait...), maps.Keys(m.Files))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, n := range names {
		f := m.Files[n]
		if f == nil {
			f = &file{}
			m.Files[n] = f
		}
		f.State = deleting
	}
	return names
}

// erased notes that a file that was to be deleted is nowhere any more. The tombstone of the replay, which keeps out what comes
// late, stays until every other file is gone.
func (m *match) erased(name string) {
	if f := m.Files[name]; f != nil {
		f.Erased = true
	}
	for n, f := range m.Files {
		if f.Erased && n != m.Replay {
			delete(m.Files, n)
		}
	}
	if f := m.Files[m.Replay]; f != nil && f.Erased && len(m.Files) == 1 {
		delete(m.Files, m.Replay)
	}
}

// with returns the stored bundles and pages that go with a file: all of them with the replay, and otherwise a bundle and its page.
func (m *match) with(name string) (names []string) {
	for n, f := range m.Files {
		if n != m.Replay && f.State == stored && (name == m.Replay || stem(n) == stem(name)) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

package cluster

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// fileOf returns the path of the file in which this server would have a match.
func (m *Member) fileOf(e *Match) string {
	return filepath.Join(m.options.Dir, "live", fmt.Sprintf("%s-%.8s.ssr", e.Name, e.ID))
}

// removeLeftovers removes files that a crash has left of matches which other servers play by now: the replicated log has all that
// is in them. It ends when there are none. A file whose match is not in the directory stays: the match is over, or the storage has
// lost it, and then the file is all that is left of it.
func (m *Member) removeLeftovers() {
	paths, err := server.LiveLogs(m.options.Dir)
	if err != nil || len(paths) == 0 {
		return // no folder, or nothing in it
	}
	left := make(map[string]bool)
	for _, path := range paths {
		left[path] = true
	}
	for len(left) > 0 {
		m.mu.Lock() // so that this server does not take a match meanwhile, and writes its file
		changed := m.changed
		for _, e := range m.entries {
			path := m.fileOf(e)
			if !left[path] || e.State != ownership.Playing {
				continue
			}
			delete(left, path)
			if e.Server != m.id && !inUse(path) && os.Remove(path) == nil {
				m.logOf(e).Info("file of a crash removed: another server has the match", "path", path)
			}
		}
		m.mu.Unlock()
		select {
		case <-changed:
		case <-m.ctx.Done():
			return
		}
	}
}

// inUse reports whether another server, with the same folder, may write a file.
func inUse(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	locked, err := replay.Locked(f)
	return locked || err != nil
}

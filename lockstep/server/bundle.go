package server

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// evidence writes a desync's bundle to the folder of finished replays, in a goroutine of its own.
func (m *Match) evidence(e *host.Evidence) {
	s := m.server
	s.metrics.desyncs.Inc()
	attrs := []any{"match", m.spec.Name, "report", e.Report.String()}
	if a := e.Resimulation; a != nil {
		attrs = append(attrs, "again", a.Outcome.String(), "first", a.First)
	}
	s.log.Warn("desync", attrs...)
	if m.path == "" || !m.mayBundle(e) {
		return
	}
	if err := m.writer.Flush(); err != nil {
		return // this error ends the match
	}
	size := m.writer.Size()
	who := fmt.Sprintf("player%d", e.Report.Player)
	if e.Report.Tie {
		who = "tie"
	}
	path := fmt.Sprintf("%s-desync-%d-%s.zip", trimExt(m.server.archived(m.path)), e.Report.Tick, who)
	header := m.host.Header()
	m.writing.Go(func() {
		defer func() {
			if v := recover(); v != nil { // of the game's code, or the operator's
				s.metrics.panics.Inc()
				s.log.Error("panic", "match", m.spec.Name, "path", path, "panic", v, "stack", string(debug.Stack()))
			}
		}()
		if err := writeBundle(path, m.path, size, header, e); err != nil {
			s.log.Error("bundle", "match", m.spec.Name, "path", path, "err", err)
			return
		}
		s.log.Warn("bundle", "match", m.spec.Name, "path", path)
		if s.options.OnBundle != nil {
			s.options.OnBundle(path)
		}
	})
}

// bundlesOfMatch limits the bundles of a match to this multiple of MaxBundles, besides the first of each player.
const bundlesOfMatch = 4

// mayBundle counts a bundle that is about to be written, or reports false at a limit. The first bundle about a player is
// always written: a player who desyncs on purpose must not suppress the evidence about an honest one.
func (m *Match) mayBundle(e *host.Evidence) bool {
	of, all := m.bundles[e.Report.Player], 0
	for _, n := range m.bundles {
		all += n
	}
	size := m.writer.Size()
	for _, x := range e.Exhibits {
		size += int64(len(x.Player) + len(x.Referee))
	}
	o := &m.server.options
	if of >= o.MaxBundles || of > 0 && all >= bundlesOfMatch*o.MaxBundles || m.bundleBytes+size > m.maxReplay() {
		return false
	}
	m.bundles[e.Report.Player]++
	m.bundleBytes += size
	return true
}

func trimExt(path string) string { return path[:len(path)-len(filepath.Ext(path))] }

// writeBundle writes a bundle to a temporary file and then renames it, so that nobody reads an incomplete one.
func writeBundle(path, replayPath string, size int64, h *lockstep.Header, e *host.Evidence) (err error) {
	from, err := files.OpenNoFollow(replayPath)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.CreateTemp(filepath.Dir(path), ".bundle-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := replay.WriteBundle(f, h, e, io.LimitReader(from, size)); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

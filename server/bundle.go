package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// A draft is a bundle that is written again after the player has answered.
type draft struct {
	path    string
	size    int64         // that is counted
	written chan struct{} // closed after it was written, or could not be
	there   bool          // it is on disk; known when written is closed
}

// early writes a desync's bundle at once, from what is known before the player has answered, so that a crash leaves it.
func (m *Match) early(e *host.Evidence) {
	m.desynced(e)
	m.drafts[reportOf(e)] = m.write(e, nil, false) // nil at a limit
}

// evidence writes a desync's bundle, or replaces the one that was written early.
func (m *Match) evidence(e *host.Evidence) {
	of := reportOf(e)
	before, known := m.drafts[of]
	delete(m.drafts, of)
	if e.Panic != nil { // which the log tells elsewhere
		m.write(e, nil, true)
		return
	}
	if !known {
		m.desynced(e)
	}
	if a := e.Resimulation; a != nil {
		logged.Session(m.logger, m.sessions[of.player]).Warn("computed again", "tick", of.tick, "player", of.player, "outcome", a.Outcome.String(), "first", a.First)
	}
	if known && before == nil {
		return // at a limit
	}
	if d := m.write(e, before, true); d == nil && before != nil {
		m.keepDraft(before)
	}
}

// keepDrafts tells of the bundles that are not written again, because the match is over.
func (m *Match) keepDrafts() {
	for of, d := range m.drafts {
		delete(m.drafts, of)
		if d != nil {
			m.keepDraft(d)
		}
	}
}

// keepDraft tells of a bundle that is not written again.
func (m *Match) keepDraft(d *draft) {
	m.background(d.path, func() {
		<-d.written
		if d.there {
			m.tellBundle(d.path)
		}
	})
}

func (m *Match) desynced(e *host.Evidence) {
	m.server.metrics.desyncs.of(m.spec.Game.Build()).Inc()
	about := slices.DeleteFunc(slices.Clone(e.Participants), func(p host.Participant) bool { return p.Player != e.Report.Player && !e.Report.Tie })
	if len(about) == 0 { // the player has left
		logged.Session(m.logger, m.sessions[e.Report.Player]).Warn("desync", "report", e.Report.String(), "player", int(e.Report.Player))
	}
	for _, p := range about { // of a tie, a line about each player
		words := []any{"report", e.Report.String(), "player", int(p.Player)}
		logged.Session(m.logger, m.sessions[p.Player]).Warn("desync", append(words, machineOf(m.connOf(p.Player), p.Build, p.Platform)...)...)
	}
}

// connOf returns the connection that has a seat, or nil.
func (m *Match) connOf(seat lockstep.Player) *conn {
	for _, c := range m.conns {
		if c.seat == seat {
			return c
		}
	}
	return nil
}

// A reported says which report of a match a bundle is about.
type reported struct {
	tick   lockstep.Tick
	player lockstep.Player
	tie    bool
}

func reportOf(e *host.Evidence) reported {
	return reported{e.Report.Tick, e.Report.Player, e.Report.Tie}
}

// write writes a bundle to the folder of finished replays, in a goroutine of its own, and tells of it if it is complete. It
// replaces the draft unless that is nil. It returns nil if it writes nothing.
func (m *Match) write(e *host.Evidence, before *draft, complete bool) *draft {
	if m.path == "" {
		return nil
	}
	d := &draft{size: m.sizeOf(e), written: make(chan struct{})}
	contents := m.contentsFor(d, before)
	if !m.mayBundle(e, d, before) || m.writer.Flush() != nil { // such an error ends the match
		return nil
	}
	size := m.writer.Size()
	what, who := "desync", fmt.Sprintf("player%d", e.Report.Player)
	if e.Report.Tie {
		who = "tie"
	}
	if e.Panic != nil {
		what = "panic"
		if e.Report.Player == lockstep.System {
			who = "server"
		}
	}
	d.path = fmt.Sprintf("%s-%s-%d-%s.zip", trimExt(m.server.replays.archived(m.path)), what, e.Report.Tick, who)
	header := m.host.Header()
	m.background(d.path, func() {
		defer close(d.written)
		if before != nil {
			<-before.written
			d.there = before.there
		}
		err := m.writer.Await(context.Background(), size)
		if err == nil {
			err = writeBundle(d.path, m.path, size, header, e, contents)
		}
		if err != nil {
			m.logger.Error("bundle", "path", d.path, "err", err)
		} else {
			d.there = true
		}
		if d.there && complete {
			m.tellBundle(d.path)
		}
	})
	return d
}

// background runs code that handles a bundle in a goroutine. The match waits for it before it is over.
func (m *Match) background(path string, f func()) {
	m.writing.Go(func() {
		defer func() {
			if v := recover(); v != nil { // of the game's code, or the operator's
				m.server.metrics.panics.Inc()
				m.logger.Error("panic", "path", path, "panic", v, "stack", string(debug.Stack()))
			}
		}()
		f()
	})
}

// tellBundle tells of a bundle that is not written again.
func (m *Match) tellBundle(path string) {
	m.logger.Warn("bundle", "path", path)
	if m.server.options.OnBundle != nil {
		m.server.options.OnBundle(path)
	}
}

// bundlesOfMatch limits the bundles of a match to this multiple of MaxBundles, besides the first of each player.
const bundlesOfMatch = 4

// sizeOf returns about how many bytes a bundle has.
func (m *Match) sizeOf(e *host.Evidence) int64 {
	size := m.writer.Size()
	for _, x := range e.Exhibits {
		size += int64(len(x.Player) + len(x.Referee))
	}
	return size
}

// contentsFor returns what another machine needs to simulate the match, and adds it to the size of a draft: its assets, and the module
// of its rules. It returns nothing if the disk of the match has no room for them: the evidence is worth more.
func (m *Match) contentsFor(d, before *draft) (all [][]byte) {
	for _, a := range m.assets {
		all = append(all, m.server.assets.find(a.SHA256))
	}
	if module := m.server.options.ModuleOf; module != nil {
		if b := module(m.spec.Game); b != nil {
			all = append(all, b)
		}
	}
	more := int64(0)
	for _, b := range all {
		more += int64(len(b))
	}
	spent := m.bundleBytes
	if before != nil {
		spent -= before.size
	}
	if spent+d.size+more > m.maxReplay() {
		return nil
	}
	d.size += more
	return all
}

// mayBundle counts a bundle that is about to be written, or reports false at a limit. The first bundle about a player is
// always written: a player who desyncs on purpose must not suppress the evidence about an honest one. One that replaces a
// draft counts as the same.
func (m *Match) mayBundle(e *host.Evidence, d, before *draft) bool {
	if before != nil {
		if more := d.size - before.size; m.bundleBytes+more <= m.maxReplay() {
			m.bundleBytes += more
			return true
		}
		return false
	}
	of, all := m.bundles[e.Report.Player], 0
	for _, n := range m.bundles {
		all += n
	}
	o := &m.server.options
	if of >= o.MaxBundles || of > 0 && all >= bundlesOfMatch*o.MaxBundles || m.bundleBytes+d.size > m.maxReplay() {
		return false
	}
	m.bundles[e.Report.Player]++
	m.bundleBytes += d.size
	return true
}

// writeBundle writes a bundle to a temporary file and then renames it, so that nobody reads an incomplete one.
func writeBundle(path, replayPath string, size int64, h *lockstep.Header, e *host.Evidence, contents [][]byte) (err error) {
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
	if err := replay.WriteBundle(f, h, e, io.LimitReader(from, size), contents...); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

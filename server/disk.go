package server

import (
	"fmt"
	"math"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	// maxUncommitted is the time for which a match continues while its disk is late.
	maxUncommitted = time.Second

	// maxPending is the time for which records are only in memory. In a match at full speed its ticks write them before.
	maxPending = time.Second

	// lookAgain is the interval at which a match looks whether its disk has taken what it was given.
	lookAgain = 100 * time.Millisecond

	// sealTicks is the least number of ticks in a segment of a sealed replay.
	sealTicks = 600
)

// The reasons for which a disk holds matches.
const (
	heldByFullDisk = "the server's disk is full"
	heldBySlowDisk = "the server's disk is slow"
	heldByReplicas = "the replicated log does not answer"
	heldByAdmin    = "an admin has paused the match"
	heldForPlayers = protocol.HeldForReturn // after a recovery
)

// holdReasons are the reasons that samestep_held_matches always has. Others appear with their first match.
var holdReasons = []string{heldByFullDisk, heldBySlowDisk, heldByReplicas, heldByAdmin, heldForPlayers}

// A disk tracks how much of a match's log is safe, on the disk or on several machines.
type disk struct {
	synced    chan struct{}     // holds a value when committed has changed
	committed atomic.Uint64     // position up to which the log is safe
	written   protocol.Position // after the records that the writer has
	asked     protocol.Position
	told      protocol.Position // to the host
	late      time.Time         // start of the present delay of committed; zero without one
	held      string            // why the match must wait for the disk, or ""
	pending   time.Time         // since when records are only in memory; zero if none are
	size      int64             // of the file, at pending
	backlog   replay.Backlog    // what the file has not taken
}

// openReplay creates the replay's file under a new name.
func (m *Match) openReplay(dir string, id lockstep.MatchID) (err error) {
	name := fmt.Sprintf("%s-%s.ssr", m.spec.Name, id.String()[:8])
	m.path = filepath.Join(dir, liveFolder, name)
	m.server.replays.setLive(name, true) // before the file exists
	if err := m.openWriter(m.path); err != nil {
		m.server.replays.setLive(name, false)
		return err
	}
	return nil
}

// openWriter creates a file and its writer.
func (m *Match) openWriter(path string) (err error) {
	f, err := m.server.newFile(path)
	if err != nil {
		m.server.metrics.failures.Inc()
		return storageFailed(err)
	}
	m.file = timedFile{f, m.server.metrics.writes, &m.server.operations}
	o := replay.WriterOptions{Durability: m.server.options.Durability}
	if o.Durability == replay.SyncFrame && m.replicated != nil {
		o.Durability = replay.SyncInterval // nobody waits for this file
	} else if o.Durability == replay.SyncFrame {
		o.Durability, o.FlushTicks = replay.SyncCommit, 1
	}
	m.disk.synced = make(chan struct{}, 1)
	m.writer = replay.NewWriter(m.file, o)
	return nil
}

// closeReplay closes the replay's file, and ends its writer's goroutine.
func (m *Match) closeReplay() error {
	err := m.writer.Close()
	if cerr := m.file.Close(); err == nil {
		err = cerr
	}
	m.server.replays.setLive(filepath.Base(m.path), false)
	return err
}

// record gives the host's records to the replay. They are visible at once, or when they are synced.
func (m *Match) record(r *host.Ready) {
	if m.writer != nil && len(r.Records) > 0 {
		began := m.now()
		err := r.AppendTo(m.log())
		if err == nil && m.stands() {
			err = m.writer.Flush() // no tick does it
		}
		m.load.now.writes += m.now() - began
		if err != nil {
			m.logFailed(err)
			return
		}
	}
	m.disk.written = r.Position
	if !m.waitsForLog() {
		m.host.Persisted(m.now(), r.Position)
	}
}

// stands reports whether no ticks come that would write records to the file.
func (m *Match) stands() bool {
	s := m.host.Status()
	return s.InLobby || s.Paused || s.Held != ""
}

// flush writes the records that no tick has written: all of them when the match stands, and those older than maxPending when
// it is slow or waits.
func (m *Match) flush() {
	d := &m.disk
	switch now := time.Now(); {
	case m.writer == nil:
		return
	case !m.writer.Pending() || m.host.Err() != nil:
		d.pending = time.Time{}
		return
	case d.pending.IsZero() || m.writer.Size() != d.size:
		d.pending, d.size = now, m.writer.Size()
	}
	if !m.stands() && time.Since(d.pending) < maxPending {
		return
	}
	d.pending = time.Time{}
	if err := m.writer.Flush(); err != nil {
		m.logFailed(err)
	}
}

// logFailed ends the match because its file failed. A match with a replicated log goes on elsewhere.
func (m *Match) logFailed(err error) {
	if m.replicated != nil {
		m.handOver(err)
	} else {
		m.host.Fail(m.now(), err)
	}
}

// waitsForLog reports whether players see only what is synced, or replicated.
func (m *Match) waitsForLog() bool {
	return m.replicated != nil || m.writer != nil && m.server.options.Durability == replay.SyncFrame
}

// maintainReplay ends the match after a failed sync or at the size limit, holds it while the disk is full or slow, and
// tells the host what is safe on disk.
func (m *Match) maintainReplay() {
	if m.writer == nil {
		return
	}
	now := time.Now()
	if m.waitsForLog() {
		m.commit(now)
	}
	if m.replicated != nil && m.replicated.Err() != nil {
		m.handOver(m.replicated.Err())
		return
	}
	if err := m.writer.Err(); err != nil && m.host.Err() == nil {
		m.logFailed(err)
		return
	}
	if most := m.maxReplay(); m.writer.Size() >= most && m.host.Err() == nil {
		m.host.Admin().End(m.now(), fmt.Sprintf("the replay has %d bytes, want at most %d", m.writer.Size(), most)) // its error is also in Err
		return
	}
	m.disk.backlog = m.writer.Backlog()
	switch b := &m.disk.backlog; {
	case b.Full:
		m.disk.held = heldByFullDisk
	case b.Crowded || !b.Since.IsZero() && now.Sub(b.Since) > maxUncommitted:
		m.disk.held = heldBySlowDisk
	case !m.disk.late.IsZero() && now.Sub(m.disk.late) > maxUncommitted:
		m.disk.held = heldBySlowDisk
		if m.replicated != nil {
			m.disk.held = heldByReplicas
		}
	default:
		m.disk.held = ""
	}
}

// maxReplay returns the size limit of the match's replay.
func (m *Match) maxReplay() int64 {
	o := m.server.gates.limits.Load()
	most := o.MatchDiskBytes
	if most < 0 {
		most = math.MaxInt64
	}
	if m.spec.guest != nil {
		most = min(most, int64(o.GuestDiskBytes))
	}
	return most
}

// askCommit has done called when the records so far are safe. It reports false if nobody will call it.
func (m *Match) askCommit(done func()) bool {
	if m.replicated != nil {
		m.replicated.Commit(done)
		return true
	}
	return m.writer.Commit(done) == nil
}

// commit asks the log to make new records safe, and tells the host which ones are.
func (m *Match) commit(now time.Time) {
	d := &m.disk
	if next := d.written; next > d.asked && m.askCommit(func() {
		d.committed.Store(uint64(next))
		select {
		case d.synced <- struct{}{}:
		default: // a value is there
		}
	}) {
		d.asked = next
	}
	committed := protocol.Position(d.committed.Load())
	switch {
	case committed == d.written || d.backlog.Full && m.replicated == nil:
		d.late = time.Time{}
	case d.late.IsZero() || committed > d.told:
		d.late = now
	}
	if committed > d.told {
		d.told = committed
		m.host.Persisted(m.now(), committed)
	}
}

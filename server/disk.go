package server

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/server/internal/hold"
	"github.com/seed-49bee653/samestep/server/internal/livelog"
)

// sealTicks is the least number of ticks in a segment of a sealed replay.
const sealTicks = 600

// holdReasons are the reasons that samestep_held_matches always has. Others appear with their first match.
var holdReasons = []string{livelog.HeldByFullDisk, livelog.HeldBySlowDisk, livelog.HeldByReplicas, hold.ByAdmin, hold.ForPlayers}

// openLog creates the file of the log at a path, from which the caller may move it to that of the match.
func (m *Match) openLog(path string) (err error) {
	f, err := m.server.newFile(path)
	if err != nil {
		m.server.metrics.failures.Inc()
		return storageFailed(err)
	}
	_, onDisk := f.(*os.File)
	m.log.Open(m.path, timedFile{f, m.server.metrics.writes, &m.server.operations}, onDisk, m.server.options.Durability)
	return nil
}

// closeReplay closes the replay's file, and ends its writer's goroutine.
func (m *Match) closeReplay() error {
	err := m.log.Close()
	m.server.replays.setLive(filepath.Base(m.path), false)
	return err
}

// record gives the host's records to the replay. They are visible at once, or when they are synced.
func (m *Match) record(r *host.Ready) {
	if m.log.Recorded() && len(r.Records) > 0 {
		began := m.now()
		err := r.AppendTo(&m.log)
		if err == nil && m.stands() {
			err = m.log.Flush() // no tick does it
		}
		m.load.now.writes += m.now() - began
		if err != nil {
			m.logFailed(err)
			return
		}
	}
	m.log.Wrote(r.Position)
	if !m.log.Waited() {
		m.host.Persisted(m.now(), r.Position)
	}
}

// stands reports whether no ticks come that would write records to the file.
func (m *Match) stands() bool {
	s := m.host.Status()
	return s.InLobby || s.Paused || s.Held != ""
}

// logFailed ends the match because its file failed. A match with a replicated log goes on elsewhere.
func (m *Match) logFailed(err error) {
	if m.log.Replicated() {
		m.handOver(err)
	} else {
		m.host.Fail(m.now(), err)
	}
}

// maintainReplay ends the match after a failed sync or at the size limit, and tells the host what is safe on disk.
func (m *Match) maintainReplay() {
	s := m.log.Maintain(time.Now())
	if s.Safe > 0 {
		m.host.Persisted(m.now(), s.Safe)
	}
	switch {
	case s.Refused != nil:
		m.handOver(s.Refused)
	case m.host.Err() != nil || !m.log.Recorded():
	case s.Failed != nil:
		m.logFailed(s.Failed)
	default:
		if most := m.maxReplay(); m.log.Size() >= most {
			m.host.Admin().End(m.now(), fmt.Sprintf("the replay has %d bytes, want at most %d", m.log.Size(), most)) // its error is also in Err
		}
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

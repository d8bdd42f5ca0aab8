package server

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
)

const (
	// maxUncommitted is how long the match goes on while the disk keeps it waiting.
	maxUncommitted = time.Second

	// retryRoom is how often a full disk is asked for room.
	retryRoom = time.Second

	// defaultMatchDisk is how large a replay may become. A player who sends as many bytes
	// as the rates allow needs 18 hours for it.
	defaultMatchDisk = 4 << 30

	// sealTicks is how many ticks a segment of a sealed replay has at least.
	sealTicks = 600
)

// A file is what a replay is written to.
type file interface {
	io.WriteCloser
	Sync() error
}

// A disk is how far a match's replay has come to be safe.
type disk struct {
	synced    chan struct{} // holds a value when committed has changed
	committed atomic.Uint64 // the position before which all is safe
	asked     protocol.Position
	told      protocol.Position // to the host
	late      time.Time         // since when committed is behind and stays there; zero if it is not behind
	roomAt    time.Time         // when to ask for room again
}

// openReplay makes the replay's file, whose name nothing else has.
func (m *Match) openReplay(dir string, id lockstep.MatchID) (err error) {
	name := fmt.Sprintf("%s-%s.ssr", m.spec.Name, id.String()[:8])
	m.path = filepath.Join(dir, name)
	m.server.recordings.written(name, true) // before there is such a file
	if err := m.openWriter(m.path); err != nil {
		m.server.recordings.written(name, false)
		return err
	}
	return nil
}

// openWriter makes the file of a path, and the writer to it.
func (m *Match) openWriter(path string) (err error) {
	if m.file, err = m.server.newFile(path); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	o := replay.WriterOptions{Durability: m.server.options.Durability, WaitForRoom: true}
	if o.Durability == replay.SyncFrame {
		o.Durability, o.FlushTicks = replay.SyncCommit, 1
	}
	m.disk.synced = make(chan struct{}, 1)
	m.writer = replay.NewWriter(m.file, o)
	return nil
}

// tend looks after the replay: a failed sync ends the match, a full or a slow
// disk holds it, and what is safe may be sent.
func (m *Match) tend() {
	if m.writer == nil {
		return
	}
	now := time.Now()
	if m.writer.Full() && now.After(m.disk.roomAt) {
		m.disk.roomAt = now.Add(retryRoom)
		m.writer.Flush() // Err has its error
	}
	if m.server.options.Durability == replay.SyncFrame {
		m.commit(now)
	}
	if err := m.writer.Err(); err != nil && m.host.Err() == nil {
		m.host.Fail(m.now(), err)
		return
	}
	if most := m.maxReplay(); m.writer.Size() >= most && m.host.Err() == nil {
		m.host.End(m.now(), fmt.Sprintf("the replay has %d bytes, want at most %d", m.writer.Size(), most)) // an error is Err's, too
		return
	}
	switch {
	case m.writer.Full():
		m.host.Hold(m.now(), "the server's disk is full")
	case !m.disk.late.IsZero() && now.Sub(m.disk.late) > maxUncommitted:
		m.host.Hold(m.now(), "the server's disk is slow")
	default:
		m.host.Hold(m.now(), "")
	}
}

// maxReplay returns how large the match's replay may become.
func (m *Match) maxReplay() int64 {
	o := &m.server.options
	most := o.MatchDiskBytes
	if most < 0 {
		most = math.MaxInt64
	}
	if m.spec.guest != nil {
		most = min(most, int64(o.GuestDiskBytes))
	}
	return most
}

// commit lets what is new be synced, and what was synced be sent.
func (m *Match) commit(now time.Time) {
	d := &m.disk
	if next := m.host.Position(); next > d.asked {
		err := m.writer.Commit(func() {
			d.committed.Store(uint64(next))
			select {
			case d.synced <- struct{}{}:
			default: // it was told already
			}
		})
		if err == nil && !m.writer.Full() {
			d.asked = next
		}
	}
	committed := protocol.Position(d.committed.Load())
	switch {
	case committed == m.host.Position() || m.writer.Full():
		d.late = time.Time{}
	case d.late.IsZero() || committed > d.told:
		d.late = now
	}
	if committed > d.told {
		d.told = committed
		m.host.Commit(m.now(), committed)
	}
}

// seal compresses the replay of a match that is over, beside those that go on:
// one at a time, so that they keep the other processors.
func (s *Server) seal(match, path string) {
	s.sealing.Go(func() {
		select {
		case s.seals <- struct{}{}:
			defer func() { <-s.seals }()
		case <-s.closing.Done():
			return
		}
		err := replay.SealFile(s.closing, path, replay.WriterOptions{SegmentTicks: sealTicks})
		if err != nil && s.closing.Err() == nil {
			s.log.Error("seal", "match", match, "path", path, "err", err)
		}
		s.recordings.written(filepath.Base(path), false) // it has another size
	})
}

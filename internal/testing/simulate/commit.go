package simulate

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A commit is a sync concurrent with the match. No client sees what is not synced.
type commit struct {
	at       lockstep.Time // when it completes; 0: there is none
	position protocol.Position
	tick     lockstep.Tick
	size     int               // of the synced part of the file
	done     protocol.Position // of the previous commit
}

// beginCommit starts a commit if there are records to commit.
func (s *server) beginCommit() {
	c := &s.commit
	if s.replica != nil || !s.w.plan.Disk.Await || c.at > 0 || s.failed() || s.wrote == c.done || s.disk.lost {
		return
	}
	if err := s.writer.Flush(); err != nil {
		s.host.Fail(s.w.now, err)
		return
	}
	*c = commit{at: s.w.now + max(1, s.w.plan.Disk.SyncTime+s.disk.slow), position: s.wrote, tick: s.w.oracle.tick(), size: len(s.disk.now.data)}
}

// endCommit completes a commit that is due.
func (s *server) endCommit() {
	c := &s.commit
	if c.at == 0 || c.at > s.w.now {
		return
	}
	c.at = 0
	if err := s.disk.now.syncTo(c.size); err != nil {
		s.host.Fail(s.w.now, err)
	} else if !s.failed() {
		s.durable, c.done = max(s.durable, c.tick), c.position
		s.host.Persisted(s.w.now, c.position)
	}
	s.disk.spent = 0 // the sync was concurrent
}

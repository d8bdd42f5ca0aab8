package livelog

import (
	"time"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// maxUncommitted is the time for which a match continues while its disk is late.
	maxUncommitted = time.Second

	// maxPending is the time for which records are only in memory. In a match at full speed its ticks write them before.
	maxPending = time.Second

	// lookAgain is the interval at which a match looks whether its disk has taken what it was given.
	lookAgain = 100 * time.Millisecond
)

// The reasons for which a log holds its match.
const (
	HeldByFullDisk = "the server's disk is full"
	HeldBySlowDisk = "the server's disk is slow"
	HeldByReplicas = "the replicated log does not answer"
)

// Held returns why the match must wait for the log, or "".
func (l *Log) Held() string { return l.held }

// A State is what Maintain has found.
type State struct {
	Safe    protocol.Position // that clients may see now; 0 for none since the last call
	Refused error             // the replica takes no more records
	Failed  error             // of the file
}

// Maintain asks the log to make new records safe, and decides what holds the match.
func (l *Log) Maintain(now time.Time) (s State) {
	if l.writer == nil {
		return s
	}
	if l.waited {
		s.Safe = l.commit(now)
	}
	if l.replica != nil {
		if s.Refused = l.replica.Err(); s.Refused != nil {
			return s
		}
	}
	s.Failed = l.writer.Err()
	l.backlog = l.writer.Backlog()
	switch b := &l.backlog; {
	case b.Full:
		l.held = HeldByFullDisk
	case b.Crowded || !b.Since.IsZero() && now.Sub(b.Since) > maxUncommitted:
		l.held = HeldBySlowDisk
	case !l.late.IsZero() && now.Sub(l.late) > maxUncommitted:
		l.held = HeldBySlowDisk
		if l.replica != nil {
			l.held = HeldByReplicas
		}
	default:
		l.held = ""
	}
	return s
}

// commit asks the log to make new records safe, and returns the position up to which it has done so since the last call, or 0.
func (l *Log) commit(now time.Time) (safe protocol.Position) {
	if next := l.written; next > l.asked && l.askCommit(func() {
		l.committed.Store(uint64(next))
		select {
		case l.synced <- struct{}{}:
		default: // a value is there
		}
	}) {
		l.asked = next
	}
	committed := protocol.Position(l.committed.Load())
	switch {
	case committed == l.written || l.backlog.Full && l.replica == nil:
		l.late = time.Time{}
	case l.late.IsZero() || committed > l.told:
		l.late = now
	}
	if committed <= l.told {
		return 0
	}
	l.told = committed
	return committed
}

// askCommit has done called when the records so far are safe. It reports false if nobody will call it.
func (l *Log) askCommit(done func()) bool {
	if l.replica != nil {
		l.replica.Commit(done)
		return true
	}
	return l.writer.Commit(done) == nil
}

// FlushLate writes the records that no tick has written: all of them when the match stands, and those older than maxPending when
// it is slow or waits. A match that is over writes none.
func (l *Log) FlushLate(now time.Time, stands, over bool) error {
	switch {
	case l.writer == nil:
		return nil
	case !l.writer.Pending() || over:
		l.pending = time.Time{}
		return nil
	case l.pending.IsZero() || l.writer.Size() != l.size:
		l.pending, l.size = now, l.writer.Size()
	}
	if !stands && now.Sub(l.pending) < maxPending {
		return nil
	}
	l.pending = time.Time{}
	return l.writer.Flush()
}

// Wake returns the time until the log wants Maintain and FlushLate to be called, at most wait.
func (l *Log) Wake(now time.Time, wait time.Duration) time.Duration {
	if l.backlog.Bytes > 0 {
		wait = min(wait, lookAgain)
	}
	if !l.pending.IsZero() {
		wait = min(wait, max(l.pending.Add(maxPending).Sub(now), 0))
	}
	return wait
}

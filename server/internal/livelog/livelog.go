package livelog

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// A File is the file of a replay.
type File interface {
	io.WriteCloser
	Sync() error
}

// A Replica is a replicated log: see server.ReplicatedLog.
type Replica interface {
	lockstep.Log
	Commit(done func())
	Err() error
	Flush() error
	Release(why error)
	Drop()
}

// A Log is the log of a match. The methods of the file's writer are its own.
type Log struct {
	*replay.Writer // or nil
	path           string
	file           File
	onDisk         bool
	replica        Replica // or nil
	both           lockstep.Log
	waited         bool        // clients see only what is safe
	released       atomic.Bool // the replica, perhaps before the file is closed

	synced    chan struct{}     // holds a value when committed has changed
	committed atomic.Uint64     // position up to which the log is safe
	written   protocol.Position // after the records that the writer has
	asked     protocol.Position
	told      protocol.Position // to the match
	late      time.Time         // start of the present delay of committed; zero without one
	held      string
	pending   time.Time      // since when records are only in memory; zero if none are
	size      int64          // of the file, at pending
	backlog   replay.Backlog // what the file has not taken

	looking, gone atomic.Bool // for the file in its folder
	lost          bool        // that was told
}

// Replicate gives the log a replica, or nil for none. path is that of the file that Open gets.
func (l *Log) Replicate(path string, r Replica) { l.path, l.replica, l.waited = path, r, r != nil }

// Open begins to write to a file, which is, or will be, at path. onDisk says that a disk has it.
func (l *Log) Open(path string, f File, onDisk bool, d replay.Durability) {
	o := replay.WriterOptions{Durability: d}
	if o.Durability == replay.SyncFrame && l.replica != nil {
		o.Durability = replay.SyncInterval // nobody waits for this file
	} else if o.Durability == replay.SyncFrame {
		l.waited = true
		o.Durability, o.FlushTicks = replay.SyncCommit, 1
	}
	l.path, l.file, l.onDisk, l.synced = path, f, onDisk, make(chan struct{}, 1)
	l.Writer = replay.NewWriter(f, o)
	l.both = l.Writer
	if l.replica != nil {
		l.both = record.Tee(l.replica, l.Writer)
	}
}

// Recorded reports whether the match has a file.
func (l *Log) Recorded() bool { return l.Writer != nil }

// Replicated reports whether the match has a replicated log.
func (l *Log) Replicated() bool { return l.replica != nil }

// Waited reports whether clients see only what is safe.
func (l *Log) Waited() bool { return l.waited }

// Append implements [lockstep.Log].
func (l *Log) Append(raw []byte) error {
	if l.both == nil {
		return nil
	}
	return l.both.Append(raw)
}

// Remember appends an event that no player gets: what the next server needs to resume the match. Maintain returns its error.
func (l *Log) Remember(p lockstep.Player, name, text string) {
	if l.Writer == nil {
		return
	}
	l.Append(record.Event(p, name, text))
	if l.replica != nil {
		l.replica.Commit(func() {}) // no record of the host may follow soon
	}
}

// Wrote notes the position after the records that were appended.
func (l *Log) Wrote(p protocol.Position) { l.written = p }

// Sync flushes and syncs the file, before WriteBehind.
func (l *Log) Sync() error {
	if err := l.Writer.Flush(); err != nil {
		return err
	}
	return l.file.Sync()
}

// Synced holds a value when Maintain has something to say.
func (l *Log) Synced() <-chan struct{} { return l.synced }

// Stored waits a short time until the replica, if there is one, has all records.
func (l *Log) Stored() error {
	if l.replica == nil {
		return nil
	}
	return l.replica.Flush()
}

// Close closes the file.
func (l *Log) Close() error { return cmp.Or(l.Writer.Close(), l.file.Close()) }

// Abandon closes the file and removes it from a path: its match could not start.
func (l *Log) Abandon(path string) {
	if l.Writer != nil {
		l.Close() // an error does not matter for a removed file
		os.Remove(path)
	}
}

// Drop drops the replica: nobody needs it.
func (l *Log) Drop() {
	if l.replica != nil {
		l.replica.Drop()
	}
}

// Release lets another server continue the match, if its log is replicated. The file is removed, so that nobody continues
// the match from here.
func (l *Log) Release(why error) {
	if l.replica != nil {
		os.Remove(l.path)
		l.Leave(why)
	}
}

// Leave is Release without the file.
func (l *Log) Leave(why error) {
	if l.released.CompareAndSwap(false, true) {
		l.replica.Release(why)
	}
}

// Released reports whether the replica was released.
func (l *Log) Released() bool { return l.released.Load() }

// Lost reports once that somebody has removed the file from its folder: what is written to it now is lost. It does not wait for
// the disk; a later call has the answer.
func (l *Log) Lost() bool {
	switch {
	case !l.onDisk || l.lost:
	case l.gone.Load():
		l.lost = true
		return true
	case l.looking.CompareAndSwap(false, true):
		go func() {
			defer l.looking.Store(false)
			if _, err := os.Lstat(l.path); errors.Is(err, fs.ErrNotExist) {
				l.gone.Store(true)
			}
		}()
	}
	return false
}

// ToldLost reports whether Lost has said so.
func (l *Log) ToldLost() bool { return l.lost }

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
	if l.Writer == nil {
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
	s.Failed = l.Writer.Err()
	l.backlog = l.Writer.Backlog()
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
	return l.Writer.Commit(done) == nil
}

// FlushLate writes the records that no tick has written: all of them when the match stands, and those older than maxPending when
// it is slow or waits. A match that is over writes none.
func (l *Log) FlushLate(now time.Time, stands, over bool) error {
	switch {
	case l.Writer == nil:
		return nil
	case !l.Writer.Pending() || over:
		l.pending = time.Time{}
		return nil
	case l.pending.IsZero() || l.Writer.Size() != l.size:
		l.pending, l.size = now, l.Writer.Size()
	}
	if !stands && now.Sub(l.pending) < maxPending {
		return nil
	}
	l.pending = time.Time{}
	return l.Writer.Flush()
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

package server

import (
	"errors"
	"fmt"
	"os"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// ErrNotOwner is wrapped by the error of a [ReplicatedLog] that another server has taken over.
var ErrNotOwner = errors.New("server: another server has the match")

// A Replicator keeps the logs of matches on several machines; the package lockstep/cluster has one. With it no client
// sees a record before those machines have it, and a server that is lost leaves all that anybody saw. It must be safe
// for concurrent use.
type Replicator interface {
	// Open returns the log of a match. Of a match that [Server.Create] begins it is new, or the error wraps [ErrExists].
	// Of one that [Server.Resume] continues it has the records of the file already.
	Open(name string, h *lockstep.Header) (ReplicatedLog, error)
}

// A ReplicatedLog is the log of one match on several machines. Append, Commit and Err return at once. Append does not
// fail, but what comes after an error is lost.
type ReplicatedLog interface {
	lockstep.Log

	// Commit has done called, from another goroutine, when a majority of the machines has all records so far. It is not
	// called after an error.
	Commit(done func())

	// Err returns why no more records are stored, or nil: [ErrNotOwner], or a log that was away for too long.
	Err() error

	// Flush waits a short time until all records so far are stored.
	Flush() error

	// Release is called last for a match that is not over: another server may continue it. why says what kept this server
	// from doing so, or is nil.
	Release(why error)

	// Drop is called last for a match that is over, and whose replay is complete on this server: nobody needs the log.
	Drop()
}

const (
	// movedRetry is when clients of a match that moves to another server may come back.
	movedRetry = 100 * lockstep.Millisecond

	heldByReplicas = "the replicated log does not answer"
)

// openReplicated opens the replicated log, if the server has any.
func (m *Match) openReplicated(h *lockstep.Header) (err error) {
	if r := m.server.options.Replicator; r != nil {
		m.replicated, err = r.Open(m.spec.Name, h)
	}
	return err
}

// Suspend stops the match and tells its clients when to come back, as [Server.Shutdown] does with all matches. With a
// [Replicator] another server can then continue it; otherwise this one, by [Server.Resume]. Wait for [Match.Done].
func (m *Match) Suspend() { m.post(input{do: m.suspend}) }

// handOver stops a match that this server must not or cannot write any more. Another server continues it.
func (m *Match) handOver(err error) {
	if m.suspended {
		return
	}
	m.server.log.Warn("match handed over", "match", m.spec.Name, "tick", uint32(m.host.Now()), "err", err)
	m.suspend()
}

// log returns where the match's records go, the replicated log first: a record that it refused is nowhere.
func (m *Match) log() lockstep.Log {
	switch {
	case m.writer == nil:
		return record.Tee()
	case m.replicated == nil:
		return m.writer
	}
	return record.Tee(m.replicated, m.writer)
}

// flushReplicated waits until the replicated log, if there is one, has all records. If that fails, another server will
// continue the match, even if it is over here.
func (m *Match) flushReplicated() (all bool) {
	if m.replicated == nil {
		return true
	}
	err := m.replicated.Flush()
	if err != nil && !errors.Is(err, ErrNotOwner) {
		m.server.metrics.failures.Inc()
		m.server.log.Error("replicated log", "match", m.spec.Name, "err", err)
	}
	return err == nil
}

// release lets another server continue the match, if its log is replicated. The file is removed, so that nobody continues
// the match from here.
func (m *Match) release(why error) {
	if m.replicated != nil {
		os.Remove(m.path)
		m.replicated.Release(why)
	}
}

// checkReplicator refuses a server whose replicated matches would have no file.
func (o *Options) checkReplicator() error {
	if o.Replicator != nil && o.Dir == "" {
		return fmt.Errorf("server: got a Replicator and no Dir, want both: a replay is written as a file first")
	}
	return nil
}

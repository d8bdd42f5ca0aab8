package server

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
)

// ErrNotOwner is wrapped by the error of a [ReplicatedLog] that another server has taken over.
var ErrNotOwner = errors.New("server: another server has the match")

// A Replicator keeps the logs of matches on several machines; the package cluster has one. With it no client
// sees a record before those machines have it, and a server that is lost leaves all that anybody saw. It must be safe
// for concurrent use.
type Replicator interface {
	// Open returns the log of a match. Of a match that [Server.Create] begins it is new, or the error wraps [ErrExists].
	// Of one that [Server.Resume] continues it has the records of the file already.
	Open(name string, h *lockstep.Header) (ReplicatedLog, error)

	// Check returns why no match can begin now, in words for everybody, or nil.
	Check() error
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

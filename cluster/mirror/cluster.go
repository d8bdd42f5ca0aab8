//go:build !js

package mirror

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/disclosure"
)

// A Cluster is a Source: the replicated logs of matches. The mirror only sends requests, for which it needs the permissions
// of [storage.MirrorRole]. It needs no server of the cluster, and notices
// nothing of a takeover.
type Cluster struct {
	Conn *storage.Conn

	// Find returns the id of a match. The error is [ErrNoMatch] if there is none of the name. Nil asks the directory of the
	// cluster, which has the matches that are not over.
	Find func(ctx context.Context, name string) (lockstep.MatchID, error)
}

const (
	// readWait is how long the storage may be silent.
	readWait = 2 * time.Second

	// readEvery is the time between two questions for more at the end of a log. Spectators are so much later at most.
	readEvery = 25 * time.Millisecond

	// readAgain is the time between two attempts to read.
	readAgain = 500 * time.Millisecond

	// headEvery is the time between two questions for what the owner says, and headLife for how long its last word counts.
	headEvery = 2 * time.Second
	headLife  = 30 * time.Second
)

// find implements [Source].
func (c Cluster) find(ctx context.Context, name string) (follow func(*Match) feed, err error) {
	find := c.Find
	if find == nil {
		find = c.directory
	}
	id, err := find(ctx, name)
	if err != nil {
		return nil, err
	}
	return func(m *Match) feed {
		ctx, cancel := context.WithCancel(context.Background())
		f := &clusterFeed{conn: c.Conn, id: id, m: m, log: audience.NewLog(m.a), cancel: cancel}
		m.know(id.String())
		go f.run(ctx)
		go f.listen(ctx)
		return f
	}, nil
}

// away implements [Source].
func (c Cluster) away() string { return c.Conn.Away() }

// directory finds a match in the directory of the cluster; see package cluster for its keys.
func (c Cluster) directory(ctx context.Context, name string) (id lockstep.MatchID, err error) {
	bucket, err := c.Conn.JS.KeyValue(ctx, storage.MatchesBucket)
	if err != nil {
		return id, fmt.Errorf("mirror: directory: %w", err)
	}
	e, err := bucket.Get(ctx, strings.ReplaceAll(name, ".", "="))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return id, ErrNoMatch
	}
	if err != nil {
		return id, fmt.Errorf("mirror: directory: %w", err)
	}
	var m struct{ ID string }
	err = json.Unmarshal(e.Value(), &m)
	b, err2 := hex.DecodeString(m.ID)
	if err = errors.Join(err, err2); err != nil || len(b) != len(id) {
		return id, fmt.Errorf("mirror: directory: match %q has the id %q: %w", name, m.ID, err)
	}
	copy(id[:], b)
	return id, nil
}

// A clusterFeed reads the log of a match.
type clusterFeed struct {
	conn    *storage.Conn
	id      lockstep.MatchID
	m       *Match
	log     *audience.Log
	cancel  context.CancelFunc
	pending lockstep.Tick // messages that have not been read, which have a tick or more each
	taken   uint64        // sequence of the last message that was read

	head   storage.Head // what the owner has stored, as it has said
	headAt time.Time    // when that was last something new
}

func (f *clusterFeed) act()                {}
func (f *clusterFeed) next() lockstep.Time { return f.m.now() + 60*lockstep.Second }
func (f *clusterFeed) refresh()            {} // the log has keyframes
func (f *clusterFeed) close()              { f.cancel() }

// lag implements feed.
func (f *clusterFeed) lag() lockstep.Tick {
	if f.head.Sequence <= f.taken {
		return f.pending
	}
	return max(f.pending, f.head.Tick-min(f.head.Tick, f.log.Tick()))
}

// progress implements feed. An owner that says nothing new for a time may be lost, and then nobody has more.
func (f *clusterFeed) progress() (at uint64, behind bool) {
	return f.taken, f.head.Sequence > f.taken && time.Since(f.headAt) < headLife
}

// listen asks for the words of the owner until ctx ends, in a goroutine of its own.
func (f *clusterFeed) listen(ctx context.Context) {
	for ctx.Err() == nil {
		one, cancel := context.WithTimeout(ctx, readWait)
		h, err := f.conn.Head(one, f.id)
		cancel()
		if over := errors.Is(err, jetstream.ErrMsgNotFound); err == nil || over {
			f.m.post(input{do: func() {
				if over || h.Sequence > f.head.Sequence { // a copy that is late says what it said before
					f.head, f.headAt = h, time.Now()
				}
			}})
		}
		storage.Pause(ctx, headEvery)
	}
}

// run reads the log until ctx ends, in a goroutine of its own. Each attempt continues where the last one has stopped.
func (f *clusterFeed) run(ctx context.Context) {
	var r ownership.Reader
	for ctx.Err() == nil {
		err := f.read(ctx, &r)
		if ctx.Err() != nil {
			return
		}
		f.m.log().Info("mirror: log", "err", err)
		if errors.Is(err, ownership.ErrMalformed) || errors.Is(err, errLog) || errors.Is(err, disclosure.ErrUnknown) {
			f.m.post(input{do: func() { f.m.giveUp(err) }})
			return
		}
		f.m.post(input{do: func() { f.m.a.Hold(f.m.now(), audience.SourceLost, nil, 0, 0) }})
		storage.Pause(ctx, readAgain)
	}
}

// errLog ends a match whose log nobody can read.
var errLog = errors.New("mirror: the log of the match")

// read reads messages until an error.
func (f *clusterFeed) read(ctx context.Context, r *ownership.Reader) error {
	tail := f.conn.Tail(f.id, r.End().Sequence)
	defer tail.Close()
	atEnd := false
	for {
		one, cancel := context.WithTimeout(ctx, readWait)
		sequence, message, err := tail.Next(one)
		cancel()
		switch {
		case err == nil:
			atEnd = false
			err = f.take(r, sequence, message, tail.Pending())
		case errors.Is(err, io.EOF):
			if !atEnd {
				if err = f.present(); err != nil {
					return err
				}
			}
			atEnd = true
			storage.Pause(ctx, readEvery)
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// present tells the spectators that the storage is there, and has no more. It returns an error for a log that does not say who
// may see the match.
func (f *clusterFeed) present() error {
	unknown := make(chan error, 1)
	ok := f.m.post(input{do: func() {
		unknown <- f.log.Unknown()
		f.pending = 0
		f.m.a.Live(f.m.now())
		f.m.a.Hold(f.m.now(), "", nil, 0, 0)
	}})
	if !ok {
		return context.Canceled
	}
	select {
	case err := <-unknown:
		return err
	case <-f.m.done:
		return context.Canceled
	}
}

// take takes a message of the log.
func (f *clusterFeed) take(r *ownership.Reader, sequence uint64, message []byte, pending uint64) error {
	records, err := r.Take(sequence, message)
	if err != nil {
		return err
	}
	records = bytes.Clone(records)
	failed := make(chan error, 1)
	ok := f.m.post(input{do: func() {
		f.taken = sequence
		err := f.log.Append(f.m.now(), records)
		if f.pending = lockstep.Tick(min(pending, 1<<31)); f.pending == 0 {
			f.m.a.Live(f.m.now())
		}
		if f.m.a.Held() != "" {
			f.m.a.Hold(f.m.now(), "", nil, 0, 0)
		}
		failed <- err
	}})
	if !ok {
		return context.Canceled
	}
	select {
	case err := <-failed:
		if err != nil {
			return errors.Join(errLog, err)
		}
	case <-f.m.done:
	}
	return nil
}

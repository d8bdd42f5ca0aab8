package relay

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/cluster/audience"
	"github.com/seed-49bee653/samestep/lockstep/cluster/ownership"
	"github.com/seed-49bee653/samestep/lockstep/cluster/storage"
)

// A Cluster is a Source: the replicated logs of matches. The relay only reads. It needs no server of the cluster, and notices
// nothing of a takeover.
type Cluster struct {
	Conn *storage.Conn

	// Find returns the id of a match. The error is [ErrNoMatch] if there is none of the name. Nil asks the directory of the
	// cluster, which has the matches that are not over.
	Find func(ctx context.Context, name string) (lockstep.MatchID, error)
}

const (
	// readWait is how long a reader waits for a message before it looks whether the storage is there.
	readWait = 2 * time.Second

	// readAgain is the time between two attempts to read.
	readAgain = 500 * time.Millisecond
)

// find implements [Source].
func (c Cluster) find(ctx context.Context, name string) (found, error) {
	find := c.Find
	if find == nil {
		find = c.directory
	}
	id, err := find(ctx, name)
	if err != nil {
		return nil, err
	}
	return clusterMatch{c.Conn, id}, nil
}

// directory finds a match in the directory of the cluster; see package cluster for its keys.
func (c Cluster) directory(ctx context.Context, name string) (id lockstep.MatchID, err error) {
	bucket, err := c.Conn.JS.KeyValue(ctx, storage.MatchesBucket)
	if err != nil {
		return id, fmt.Errorf("relay: directory: %w", err)
	}
	e, err := bucket.Get(ctx, strings.ReplaceAll(name, ".", "="))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return id, ErrNoMatch
	}
	if err != nil {
		return id, fmt.Errorf("relay: directory: %w", err)
	}
	var m struct{ ID string }
	err = json.Unmarshal(e.Value(), &m)
	b, err2 := hex.DecodeString(m.ID)
	if err = errors.Join(err, err2); err != nil || len(b) != len(id) {
		return id, fmt.Errorf("relay: directory: match %q has the id %q: %w", name, m.ID, err)
	}
	copy(id[:], b)
	return id, nil
}

type clusterMatch struct {
	conn *storage.Conn
	id   lockstep.MatchID
}

// follow implements found.
func (f clusterMatch) follow(m *Match) feed {
	ctx, cancel := context.WithCancel(context.Background())
	x := &clusterFeed{clusterMatch: f, m: m, log: audience.NewLog(m.a), cancel: cancel}
	go x.run(ctx)
	return x
}

// A clusterFeed reads the log of a match.
type clusterFeed struct {
	clusterMatch
	m       *Match
	log     *audience.Log
	cancel  context.CancelFunc
	pending lockstep.Tick // messages that have not been read, which have a tick or more each
}

func (f *clusterFeed) act()                {}
func (f *clusterFeed) next() lockstep.Time { return f.m.now() + 60*lockstep.Second }
func (f *clusterFeed) refresh()            {} // the log has keyframes
func (f *clusterFeed) lag() lockstep.Tick  { return f.pending }
func (f *clusterFeed) close()              { f.cancel() }

// run reads the log until ctx ends, in a goroutine of its own. Each attempt continues where the last one has stopped.
func (f *clusterFeed) run(ctx context.Context) {
	var r ownership.Reader
	for ctx.Err() == nil {
		err := f.read(ctx, &r)
		if ctx.Err() != nil {
			return
		}
		f.m.server.options.Log.Info("relay: log", "match", f.m.name, "err", err)
		if errors.Is(err, ownership.ErrMalformed) || errors.Is(err, errLog) {
			f.m.post(input{do: func() { f.m.giveUp(err) }})
			return
		}
		f.m.post(input{do: func() { f.m.a.Hold(f.m.now(), audience.SourceLost, nil, 0, 0) }})
		select {
		case <-ctx.Done():
		case <-time.After(readAgain):
		}
	}
}

// errLog ends a match whose log nobody can read.
var errLog = errors.New("relay: the log of the match")

// read reads messages until an error.
func (f *clusterFeed) read(ctx context.Context, r *ownership.Reader) error {
	stream, subject := f.conn.LogOf(f.id)
	config := jetstream.OrderedConsumerConfig{FilterSubjects: []string{subject}, DeliverPolicy: jetstream.DeliverAllPolicy}
	if last := r.End().Sequence; last > 0 {
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, last+1
	}
	made, cancel := context.WithTimeout(ctx, 5*time.Second)
	c, err := f.conn.JS.OrderedConsumer(made, stream, config)
	cancel()
	if err != nil {
		return err
	}
	messages, err := c.Messages()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, messages.Stop)
	defer func() { stop(); messages.Stop() }()
	for {
		msg, err := messages.Next(jetstream.NextMaxWait(readWait))
		switch {
		case errors.Is(err, nats.ErrTimeout):
			f.told(f.conn.NATS.IsConnected())
			continue
		case err != nil:
			return err
		}
		if err := f.take(r, msg); err != nil {
			return err
		}
	}
}

// told tells the spectators whether the storage is there.
func (f *clusterFeed) told(connected bool) {
	reason := audience.SourceLost
	if connected {
		reason = ""
	}
	f.m.post(input{do: func() { f.m.a.Hold(f.m.now(), reason, nil, 0, 0) }})
}

// take takes a message of the log.
func (f *clusterFeed) take(r *ownership.Reader, msg jetstream.Msg) error {
	meta, err := msg.Metadata()
	if err != nil {
		return err
	}
	records, err := r.Take(meta.Sequence.Stream, msg.Data())
	if err != nil {
		return err
	}
	records = bytes.Clone(records)
	failed := make(chan error, 1)
	ok := f.m.post(input{do: func() {
		err := f.log.Append(f.m.now(), records)
		if f.pending = lockstep.Tick(min(meta.NumPending, 1<<31)); f.pending == 0 {
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

package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrLayout is the error of [Conn.Setup] for a cluster with another layout.
var ErrLayout = errors.New("storage: the cluster has another layout")

// streamsKey is the key, in the metadata of the stream of segments, of the number of streams that logs are spread over. Setup makes
// this stream first, so the number is there before any log is, and nobody has to count streams that are still being made.
const streamsKey = "samestep-log-streams"

// usualStreams is the number for a cluster that does not ask for another one.
const usualStreams = 4

// learnAgain is the time between two looks for the layout.
const learnAgain = 100 * time.Millisecond

// logConfig returns the configuration of a stream of logs or of their segments.
func logConfig(name, subject string, l Layout) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: name, Subjects: []string{subject + ".*"}, Replicas: l.Replicas, Storage: jetstream.FileStorage,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxBytes: l.MaxBytes, DenyDelete: true,
		MaxMsgSize: MaxMessage + 1024, AllowDirect: true, // for Tail
	}
}

// Setup makes what is missing. It waits for the storage until ctx ends. Several programs may call it at once, with other layouts: the
// first one decides. The error is [ErrLayout] if the cluster has another number of streams than l asks for.
func (c *Conn) Setup(ctx context.Context, l Layout) error {
	l.Lease, l.MaxBytes = cmp.Or(l.Lease, LeaseTime), cmp.Or(l.MaxBytes, -1)
	l, err := c.decide(ctx, l)
	if err != nil {
		return err
	}
	for i := range l.Streams {
		if err := c.setStream(ctx, logConfig(fmt.Sprint(logStream, i), fmt.Sprint(logSubject, i), l)); err != nil {
			return err
		}
	}
	c.layout = l
	if err := c.setBucket(ctx, jetstream.KeyValueConfig{Bucket: ServersBucket, History: 1, TTL: l.Lease, Replicas: l.Replicas, Storage: jetstream.FileStorage}); err != nil {
		return err
	}
	for _, name := range []string{MatchesBucket, DeniedBucket, ResultsBucket} {
		if err := c.setBucket(ctx, jetstream.KeyValueConfig{Bucket: name, History: 1, LimitMarkerTTL: MarkerTime, Replicas: l.Replicas, Storage: jetstream.FileStorage}); err != nil {
			return err
		}
	}
	if err := c.setStream(ctx, jetstream.StreamConfig{
		Name: JobsStream, Subjects: []string{JobsSubject + ".>"}, Retention: jetstream.WorkQueuePolicy, Replicas: l.Replicas, Storage: jetstream.FileStorage, Duplicates: time.Hour,
	}); err != nil {
		return err
	}
	return retry(ctx, "bucket "+ReplaysBucket, jetstream.ErrBucketExists, func(ctx context.Context) error {
		_, err := c.JS.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: ReplaysBucket, Replicas: l.Replicas, Storage: jetstream.FileStorage})
		return err
	})
}

// decide makes the stream of segments, unless there is one, and returns the layout of the cluster: what the stream says that was made
// first.
func (c *Conn) decide(ctx context.Context, want Layout) (l Layout, err error) {
	l = want
	l.Replicas, l.Streams = cmp.Or(l.Replicas, 1), cmp.Or(l.Streams, usualStreams)
	if l.Streams < 1 || l.Streams > MaxStreams {
		return l, fmt.Errorf("storage: got %d streams, want 1 to %d", l.Streams, MaxStreams)
	}
	first := logConfig(segmentStream, segmentSubject, l)
	first.Metadata = map[string]string{streamsKey: strconv.Itoa(l.Streams)}
	if err := c.setStream(ctx, first); err != nil {
		return l, err
	}
	if err := c.Learn(ctx); err != nil {
		return l, err
	}
	l.Streams, l.Replicas = c.layout.Streams, c.layout.Replicas
	if want.Streams != 0 && want.Streams != l.Streams {
		return l, fmt.Errorf("%w: got %d streams of logs, want %d: its logs would not be found", ErrLayout, want.Streams, l.Streams)
	}
	return l, nil
}

// readLayout returns what the stream of segments says.
func (c *Conn) readLayout(ctx context.Context) (streams, replicas int, err error) {
	s, err := c.JS.Stream(ctx, segmentStream)
	if err != nil {
		return 0, 0, err
	}
	config := s.CachedInfo().Config
	text := config.Metadata[streamsKey]
	if streams, err = strconv.Atoi(text); err != nil || streams < 1 || streams > MaxStreams {
		return 0, 0, fmt.Errorf("%w: got %q streams of logs, want 1 to %d", ErrLayout, text, MaxStreams)
	}
	return streams, config.Replicas, nil
}

// Learn asks the storage over how many streams it spreads logs. It makes nothing, so a program that may only read can call it in place
// of Setup. It waits until ctx ends for whoever makes the storage.
func (c *Conn) Learn(ctx context.Context) error {
	for {
		one, stop := context.WithTimeout(ctx, attemptTime)
		streams, replicas, err := c.readLayout(one)
		stop()
		switch {
		case err == nil:
			c.layout.Streams, c.layout.Replicas = streams, replicas
			return nil
		case errors.Is(err, ErrLayout):
			return err
		}
		if !Pause(ctx, learnAgain) {
			return fmt.Errorf("storage: no logs yet: %w", err)
		}
	}
}

// setStream creates a stream unless there is one.
func (c *Conn) setStream(ctx context.Context, s jetstream.StreamConfig) error {
	return retry(ctx, "stream "+s.Name, jetstream.ErrStreamNameAlreadyInUse, func(ctx context.Context) error {
		_, err := c.JS.CreateStream(ctx, s)
		return err
	})
}

// setBucket creates a key-value bucket unless there is one.
func (c *Conn) setBucket(ctx context.Context, b jetstream.KeyValueConfig) error {
	return retry(ctx, "bucket "+b.Bucket, jetstream.ErrBucketExists, func(ctx context.Context) error {
		_, err := c.JS.CreateKeyValue(ctx, b)
		return err
	})
}

// attemptTime is the time limit of one attempt to create something.
const attemptTime = time.Second

// unavailable is the code of NATS for what can succeed later: nobody leads, or no other node can take a copy, because its own storage
// has failed, it has less room than the stream may grow to, or the leader has not heard of its room yet.
const unavailable = 503

// noPeers is the code of NATS for a leader that knows fewer nodes than a stream has copies.
const noPeers = 10005

// retry creates something. It tries again while the storage has no leader, or knows too few nodes, for example because its nodes are
// starting.
func retry(ctx context.Context, what string, exists error, create func(context.Context) error) error {
	for {
		one, stop := context.WithTimeout(ctx, attemptTime)
		err := create(one)
		stop()
		var refused *jetstream.APIError
		switch {
		case err == nil || errors.Is(err, exists):
			return nil
		case errors.As(err, &refused) && refused.Code != unavailable && refused.ErrorCode != noPeers, ctx.Err() != nil:
			return fmt.Errorf("storage: %s: %w", what, err)
		}
		Pause(ctx, 50*time.Millisecond)
	}
}

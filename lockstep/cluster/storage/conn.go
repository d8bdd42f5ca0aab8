package storage

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-49bee653/samestep/lockstep"
)

// MaxMessage is the largest message that the cluster stores, in bytes. Every NATS server accepts it by default.
const MaxMessage = 512 << 10

// DialOptions say who connects.
type DialOptions struct {
	Name        string      // shown to the operators of the storage
	User        string      // with Password; or else
	Password    string      //
	Credentials string      // path of a credentials file; or else
	Seed        string      // path of a file with the seed of an nkey
	Role        Role        // for which the answers are; "" for any that is not [OperatorRole]
	TLS         *tls.Config // nil: as the address says

	Log *slog.Logger // slog.Default()

	// Refused is called with what the storage refuses because the role of the key may not do it; whoever has asked for it gets no
	// answer. Nil logs it.
	Refused func(error)
}

// A Conn is a connection to the storage. It reconnects by itself.
type Conn struct {
	NATS *nats.Conn
	JS   jetstream.JetStream

	layout Layout // of the cluster, as far as it is known: Setup or Learn sets Streams and Replicas
}

// Dial connects to the first of the storage nodes at URLs, which are separated by commas, that answers, and to the next one
// when it is lost.
func Dial(url string, o DialOptions) (*Conn, error) {
	options := []nats.Option{
		nats.Name(o.Name), nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond), nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond),
		nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(2), nats.Timeout(2 * time.Second),
		nats.DontRandomize(),
		nats.ReconnectBufSize(-1), // a write while the storage is away fails: the caller knows whether to repeat it
	}
	switch {
	case o.User != "":
		options = append(options, nats.UserInfo(o.User, o.Password))
	case o.Credentials != "":
		options = append(options, nats.UserCredentials(o.Credentials))
	case o.Seed != "":
		key, err := nats.NkeyOptionFromSeed(o.Seed)
		if err != nil {
			return nil, fmt.Errorf("storage: %w", err)
		}
		options = append(options, key)
	}
	options = append(options, nats.CustomInboxPrefix(inbox(o.Role)))
	options = append(options, handlers(cmp.Or(o.Log, slog.Default()), o.Refused)...)
	if o.TLS != nil {
		options = append(options, nats.Secure(o.TLS))
	}
	nc, err := nats.Connect(url, options...)
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("storage: %w", err)
	}
	return &Conn{NATS: nc, JS: js}, nil
}

// Close closes the connection.
func (c *Conn) Close() { c.NATS.Close() }

// A Layout says how the storage keeps things. A zero field has the default that its comment names. Whoever calls Setup first
// chooses the layout of the cluster.
type Layout struct {
	Replicas int           // copies of everything, 1, 3 or 5: 1
	Streams  int           // over which the logs of matches are spread, at most MaxStreams: those of the cluster, or 4 for a new one
	Lease    time.Duration // of a server; LeaseTime
	MaxBytes int64         // of each stream of logs: no limit
}

// LeaseTime is the time after which the lease of a server that does not renew it is gone.
const LeaseTime = 1200 * time.Millisecond

// MarkerTime is how long a bucket remembers that a key was deleted, so that a server which was away until then learns it.
const MarkerTime = 24 * time.Hour

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

// HasOneCopy reports whether the cluster keeps one copy of everything. With several ones the node that led a stream answers reads
// for some seconds after the others have left it, so only an append shows that the storage is there.
func (c *Conn) HasOneCopy() bool { return c.layout.Replicas == 1 }

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
		case errors.As(err, &refused) && refused.Code != 503 && refused.ErrorCode != noPeers, ctx.Err() != nil:
			return fmt.Errorf("storage: %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// LogOf returns the stream and the subject of the log of a match. Setup or Learn must have said over how many streams logs are
// spread: with another number it would be another stream, which has nothing of the match.
func (c *Conn) LogOf(id lockstep.MatchID) (stream, subject string) {
	if c.layout.Streams == 0 {
		panic("storage: LogOf before Setup or Learn") // every program calls one of them first
	}
	h := fnv.New32a()
	h.Write(id[:])
	n := h.Sum32() % uint32(c.layout.Streams)
	return fmt.Sprint(logStream, n), fmt.Sprint(logSubject, n, ".", id.String())
}

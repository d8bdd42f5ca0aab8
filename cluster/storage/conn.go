package storage

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"hash/fnv"
	"log/slog"
	"sync"
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

	majority majority
	layout   Layout // of the cluster, as far as it is known: Setup or Learn sets Streams and Replicas
}

// A majority is what a connection knows of whether its node is with most of the nodes. One that is cut off from them still
// answers reads, with what it had.
type majority struct {
	mu     sync.Mutex
	asking bool
	asked  time.Time
	since  time.Time // of the first question that had no answer since the last one that had; zero if there is none
	err    error     // of the last one
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

// HasOneCopy reports whether the cluster keeps one copy of everything. With several ones the node that led a stream answers reads
// for some seconds after the others have left it, so only an append shows that the storage is there.
func (c *Conn) HasOneCopy() bool { return c.layout.Replicas == 1 }

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

package storage

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
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

// Last returns the last message of the log of a match and its sequence. The error is [jetstream.ErrMsgNotFound] if the log is
// empty. The node that leads the stream answers, so the answer is not older than any append that was acknowledged before.
// The client's own call asks any copy.
func (c *Conn) Last(ctx context.Context, id lockstep.MatchID) (sequence uint64, message []byte, err error) {
	stream, subject := c.LogOf(id)
	return c.last(ctx, stream, subject)
}

// last returns the last message of a subject, as Last does.
func (c *Conn) last(ctx context.Context, stream, subject string) (sequence uint64, message []byte, err error) {
	var a struct {
		Message struct {
			Seq  uint64
			Data []byte
		}
	}
	err = c.ask(ctx, "$JS.API.STREAM.MSG.GET."+stream, map[string]string{"last_by_subj": subject}, &a)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil, jetstream.ErrMsgNotFound
	}
	if err != nil {
		return 0, nil, fmt.Errorf("storage: the end of %s: %w", subject, err)
	}
	return a.Message.Seq, a.Message.Data, nil
}

// ask sends a request to JetStream and reads the answer, for which nil is no interest. A refusal is a [jetstream.APIError].
func (c *Conn) ask(ctx context.Context, subject string, question, answer any) error {
	m, err := c.NATS.RequestWithContext(ctx, subject, encoded(question))
	if err != nil {
		return err
	}
	var a struct{ Error *jetstream.APIError }
	if err = json.Unmarshal(m.Data, &a); err == nil && a.Error != nil {
		return a.Error
	}
	if err == nil && answer != nil {
		err = json.Unmarshal(m.Data, answer)
	}
	return err
}

// Purge removes all messages of a subject, and returns their number.
func (c *Conn) Purge(ctx context.Context, stream, subject string) (removed int, err error) {
	var a struct{ Purged int }
	if err := c.ask(ctx, "$JS.API.STREAM.PURGE."+stream, map[string]string{"filter": subject}, &a); err != nil {
		return 0, fmt.Errorf("storage: removing %s: %w", subject, err)
	}
	return a.Purged, nil
}

// handlers bring what happens to a connection into the program's log. The library would write it to the standard error output.
func handlers(log *slog.Logger, refused func(error)) []nats.Option {
	return []nats.Option{
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			switch {
			case !errors.Is(err, nats.ErrPermissionViolation):
				subject := ""
				if s != nil {
					subject = s.Subject
				}
				log.Warn("storage", "err", err, "subject", subject)
			case refused != nil:
				refused(err)
			default:
				log.Error("the storage refuses what the role of this key may not do", "err", err)
			}
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // otherwise this program has closed the connection
				log.Warn("the connection to the storage is lost", "err", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { log.Info("connected to the storage again", "address", c.ConnectedUrlRedacted()) }),
	}
}

const (
	majorityEvery = 2 * time.Second // between two questions for a majority
	majorityTime  = 2 * time.Second // for an answer

	// majorityLost is how long there must be no majority, so that the choice of another leader is none of its loss.
	majorityLost = 5 * time.Second
)

// Away returns why the storage can be of no use now, or "" if the connection does not know of a reason. It waits for nothing.
func (c *Conn) Away() string {
	if !c.NATS.IsConnected() {
		return "the storage is away"
	}
	m := &c.majority
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if !m.asking && now.Sub(m.asked) >= majorityEvery {
		m.asking, m.asked = true, now
		go c.askMajority()
	}
	if m.since.IsZero() || now.Sub(m.since) < majorityLost {
		return ""
	}
	return fmt.Sprintf("the storage node %s has no majority: %v", c.NATS.ConnectedServerName(), m.err)
}

// askMajority asks for what only a node with a majority says.
func (c *Conn) askMajority() {
	ctx, cancel := context.WithTimeout(context.Background(), majorityTime)
	defer cancel()
	began := time.Now()
	_, err := c.JS.AccountInfo(ctx)
	m := &c.majority
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asking, m.err = false, err
	switch {
	case err == nil:
		m.since = time.Time{}
	case m.since.IsZero():
		m.since = began
	}
}

// Pause waits for a time. It reports false if ctx ends before.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// encoded returns the JSON of texts and numbers, which has no error.
func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

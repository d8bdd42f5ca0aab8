package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-49bee653/samestep/cluster/ownership"
	"github.com/seed-49bee653/samestep/cluster/storage"
	"github.com/seed-49bee653/samestep/internal/tries"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// Options configure a [Member].
type Options struct {
	Conn    *storage.Conn // after Setup
	Name    string        // of this server, unique in the cluster
	Address string        // URL under which the other servers, and clients that are redirected, reach this server
	Dir     string        // of the server's files, as server.Options.Dir

	Capacity int     // matches that this server takes; 0: 1000
	Builds   []Build // that this server can run

	// Spec makes the spec of a match that this server takes over, as for [server.Server.Resume], from its name, the header of its log,
	// and what the log says about its rules, or nil.
	Spec func(name string, h *lockstep.Header, rules *replay.Rules) (server.MatchSpec, error)

	// Redirect answers requests for the matches of other servers with their addresses. Otherwise this server passes the
	// requests on, for clients that do not reach the others.
	Redirect bool

	Log *slog.Logger // slog.Default()

	times times // usualTimes; tests wait less
}

// serverName is the form of the names of servers. They are keys in the storage.
var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// A Member is a server's membership in a cluster. It is a [server.Replicator], and safe for concurrent use.
type Member struct {
	options Options
	id      string // Name, and what makes this process another server than the last one of that name
	servers jetstream.KeyValue
	matches jetstream.KeyValue
	denied  jetstream.KeyValue
	metrics *memberMetrics
	http    *http.Client // to the other servers
	waiting crowd        // requests for matches that have no server now
	ctx     context.Context
	stop    func()
	running sync.WaitGroup
	epoch   time.Time
	times   times

	mu       sync.Mutex
	leases   *ownership.Leases
	renewed  lockstep.Time        // when the last stored renewal of its own lease was sent
	others   map[string]*Server   // all servers with a lease, by name
	entries  map[string]*Match    // all matches, by name
	open     map[string]*matchLog // of the matches that this server runs, or begins to run; by id
	claimed  map[string]*matchLog // taken over, and not opened by the server yet; by id
	taking   map[string]bool      // names of matches that are being taken over
	tries    tries.Room           // of takeovers, until their matches have run for a while
	server   *server.Server       // nil before Serve
	draining bool
	changed  chan struct{} // closed and replaced when the directory has changed
}

var _ server.Replicator = (*Member)(nil)

// Join makes a server a member of the cluster. The member renews its lease until Leave.
func Join(ctx context.Context, o Options) (*Member, error) {
	if !serverName.MatchString(o.Name) {
		return nil, fmt.Errorf("cluster: got the name %q of a server, want 1 to 32 letters, digits, dashes and underscores", o.Name)
	}
	if _, err := parseAddress(o.Address); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Capacity == 0 {
		o.Capacity = 1000
	}
	if o.times == (times{}) {
		o.times = usualTimes
	}
	var random [3]byte
	rand.Read(random[:])
	id := o.Name + "-" + hex.EncodeToString(random[:])
	m := &Member{
		options: o, id: id, metrics: newMemberMetrics(), http: &http.Client{Transport: newTransport(), CheckRedirect: noRedirect}, epoch: time.Now(), times: o.times, leases: ownership.NewLeases(id, lockstep.Time(storage.LeaseTime.Microseconds())),
		others: make(map[string]*Server), entries: make(map[string]*Match), open: make(map[string]*matchLog), claimed: make(map[string]*matchLog), taking: make(map[string]bool), changed: make(chan struct{}),
	}
	var err error
	if m.servers, err = o.Conn.JS.KeyValue(ctx, storage.ServersBucket); err == nil {
		m.matches, err = o.Conn.JS.KeyValue(ctx, storage.MatchesBucket)
	}
	if err == nil {
		m.denied, err = o.Conn.JS.KeyValue(ctx, storage.DeniedBucket)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: %w; is the storage set up?", err)
	}
	m.ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := m.renew(ctx); err != nil {
		m.stop()
		return nil, fmt.Errorf("cluster: the lease of server %s: %w", o.Name, err)
	}
	m.running.Go(m.keepLease)
	m.running.Go(func() { m.watch("servers", m.servers, m.sawServer, m.serverLeft) })
	m.running.Go(func() { m.watch("matches", m.matches, m.sawMatch, m.matchGone) })
	return m, nil
}

// now returns the time on the member's own clock. No other machine's clock is compared with it.
func (m *Member) now() lockstep.Time { return lockstep.Time(time.Since(m.epoch).Microseconds()) }

// Serve lets s continue matches that other servers have lost or released. s must have the member as its Replicator.
func (m *Member) Serve(s *server.Server) {
	m.mu.Lock()
	m.server = s
	m.mu.Unlock()
	m.running.Go(m.takeOver)
	m.running.Go(m.removeLeftovers)
	m.running.Go(m.spread)
	m.running.Go(m.tellHeads)
}

// Close ends the membership at once. Call it after the server is shut down: until then the matches need the member.
func (m *Member) Close(ctx context.Context) {
	m.stop()
	m.running.Wait()
	m.http.CloseIdleConnections()
	_ = m.servers.Delete(ctx, m.id) // otherwise the lease runs out
}

// wait waits until a condition on the directory holds. The condition is called with the mutex.
func (m *Member) wait(ctx context.Context, holds func() bool) error {
	for {
		m.mu.Lock()
		ok, changed := holds(), m.changed
		m.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-m.ctx.Done():
			return errLeft
		}
	}
}

// errLeft is the error of calls after Close.
var errLeft = errors.New("cluster: this server has left the cluster")

// announce wakes those who wait for the directory. The mutex is held.
func (m *Member) announce() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Collector returns the member's metrics, for [server.Options.Metrics].
func (m *Member) Collector() prometheus.Collector { return &collector{m} }

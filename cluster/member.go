package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
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
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/internal/tries"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
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
	http    *http.Client   // to the other servers
	waiting wsmatch.Places // requests for matches that have no server now
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

// Check returns an error unless a server can have the name and the address.
func (o *Options) Check() error {
	if !serverName.MatchString(o.Name) {
		return fmt.Errorf("cluster: got the name %q of a server, want 1 to 32 letters, digits, dashes and underscores", o.Name)
	}
	_, err := parseAddress(o.Address)
	return err
}

// Join makes a server a member of the cluster. The member renews its lease until Leave.
func Join(ctx context.Context, o Options) (*Member, error) {
	if err := o.Check(); err != nil {
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

// every yields once in a period until the member leaves.
func (m *Member) every(period time.Duration) func(yield func() bool) {
	return func(yield func() bool) {
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if !yield() {
					return
				}
			case <-m.ctx.Done():
				return
			}
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

// Collector returns the member's metrics, for [server.Options.Metrics]: what it counts, and what it sees of the cluster now.
func (m *Member) Collector() prometheus.Collector {
	return measure.Collector(func(to chan<- prometheus.Metric) {
		m.metrics.appends.Collect(to)
		m.metrics.takeovers.Collect(to)
		for _, f := range m.metrics.takeovers.failures {
			f.Age.Collect(to)
		}
		age, servers, matches := m.census()
		measure.Gauge(to, "samestep_cluster_lease_age_seconds", "Time since the storage took the last renewal of this server's lease.", float64(age)/float64(lockstep.Second))
		measure.Gauge(to, "samestep_cluster_servers", "Servers whose leases have not expired, with this one.", float64(servers))
		for state, n := range matches {
			measure.Gauge(to, "samestep_cluster_matches", "Matches of all servers in the directory, by state. Of those that wait, no live server has the build and room.", float64(n), "state", string(state))
		}
	})
}

// A Server is what the lease of a server says about it.
type Server struct {
	Name     string  `json:"name"`
	Address  string  `json:"address"`
	Matches  int     `json:"matches"`
	Capacity int     `json:"capacity"`
	Builds   []Build `json:"builds"`
	Draining bool    `json:"draining,omitempty"` // it takes no more matches
}

// A Build is a build of a game.
type Build struct {
	Game  string `json:"game"`
	Build string `json:"build"`
}

// renewEvery is the time between two renewals of a lease.
const renewEvery = storage.LeaseTime / 5

// can reports whether the server has room for a match of a build.
func (s *Server) can(b Build) bool {
	if s.Draining || s.Matches >= s.Capacity {
		return false
	}
	for _, own := range s.Builds {
		if own == b {
			return true
		}
	}
	return false
}

// self returns what this server's lease says. The mutex is held.
func (m *Member) self() Server {
	return Server{Name: m.id, Address: m.options.Address, Matches: m.loads()[m.id], Capacity: m.options.Capacity, Builds: m.options.Builds, Draining: m.drains()}
}

// drains reports whether this server takes no more matches. The mutex is held.
func (m *Member) drains() bool { return m.draining || m.server != nil && m.server.Draining() }

// loads returns how many matches each server has. The directory says it at once, the lease of a server only when that is
// renewed. The mutex is held.
func (m *Member) loads() map[string]int {
	all := make(map[string]int)
	for _, e := range m.entries {
		if e.State != ownership.Released && e.State != ownership.Failed {
			all[e.Server]++
		}
	}
	return all
}

// renew renews this server's lease once.
func (m *Member) renew(ctx context.Context) error {
	m.mu.Lock()
	s := m.self()
	m.mu.Unlock()
	value, err := json.Marshal(s)
	if err != nil {
		panic(err) // a Server has only strings and numbers
	}
	ctx, cancel := context.WithTimeout(ctx, storage.LeaseTime/2)
	defer cancel()
	sent := m.now()
	revision, err := m.servers.Put(ctx, s.Name, value)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.leases.Failed()
		return err
	}
	m.renewed = sent
	m.leases.Renewed(revision, sent, m.now())
	return nil
}

// keepLease renews the lease until the member leaves.
func (m *Member) keepLease() {
	failing := false
	tried := time.Now() // another node, or the lease was renewed
	for range m.every(renewEvery) {
		err := m.renew(m.ctx)
		if err != nil && !failing && m.ctx.Err() == nil {
			m.options.Log.Warn("lease not renewed", "err", err)
		} else if err == nil && failing {
			m.options.Log.Info("lease renewed again")
		}
		failing = err != nil
		if !failing {
			tried = time.Now()
		} else if time.Since(tried) > m.times.elsewhere {
			tried = time.Now()
			_ = m.options.Conn.NATS.ForceReconnect() // fails only while it connects anyway
		}
	}
}

// spreadEvery is the time between two looks at which nodes lead the streams of logs.
const spreadEvery = time.Minute

// spread keeps the leaders of the streams of logs on different nodes until the member leaves. The first of the live servers
// does it.
func (m *Member) spread() {
	for range m.every(spreadEvery) {
		if !m.first() {
			continue
		}
		switch stream, err := m.options.Conn.Spread(m.ctx); {
		case err != nil:
			m.options.Log.Debug("stream leaders not balanced", "err", err)
		case stream != "":
			m.options.Log.Info("moved the leadership of a stream to balance the nodes", "stream", stream)
		}
	}
}

// first reports whether no other live server has a name before this one's.
func (m *Member) first() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.others {
		if name < m.id && !m.leases.Expired(name, m.now()) {
			return false
		}
	}
	return m.leases.Mine(m.now())
}

// sawServer takes an update of a lease.
func (m *Member) sawServer(name string, value []byte, revision uint64) {
	s := &Server{}
	if json.Unmarshal(value, s) != nil || s.Name != name {
		return // not of a member
	}
	if _, err := parseAddress(s.Address); err != nil {
		return // no member begins with it
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.others[name] = s
	m.leases.Seen(name, revision, m.now())
	m.announce()
}

// serverLeft takes a lease that its server has given up. One that runs out is no news: the storage may have been away.
func (m *Member) serverLeft(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.others, name)
	m.leases.Left(name, m.now())
	m.announce()
}

// memberMetrics are what a member counts.
type memberMetrics struct {
	appends   prometheus.Histogram
	takeovers takeovers
}

// takeovers are counted by result.
type takeovers struct {
	*prometheus.CounterVec
	failures map[string]*measure.Failure // by those of the results that are failures
}

// WithLabelValues returns the counter of a result.
func (t takeovers) WithLabelValues(result string) prometheus.Counter {
	if f := t.failures[result]; f != nil {
		return f
	}
	return t.CounterVec.WithLabelValues(result)
}

// Results of a takeover: the values of a label.
const (
	tookOver   = "continued"
	wasOver    = "over"
	neverBegan = "never began"
	failedTo   = "failed"
	hung       = "hung"
)

func newMemberMetrics() *memberMetrics {
	m := &memberMetrics{
		appends: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "samestep_cluster_append_seconds", Help: "Time until the replicated log has stored an append.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1},
		}),
		takeovers: takeovers{prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "samestep_cluster_takeovers_total", Help: "Matches that this server has taken from others, by result.",
		}, []string{"result"}), make(map[string]*measure.Failure)},
	}
	for _, result := range []string{tookOver, wasOver, neverBegan, failedTo, hung} {
		m.takeovers.WithLabelValues(result) // starts at 0, as a rate needs
	}
	for _, result := range []string{failedTo, hung} {
		m.takeovers.failures[result] = measure.NewFailure(m.takeovers.CounterVec.WithLabelValues(result), "takeover "+result, "")
	}
	return m
}

// waiting is the state of a match that no live server could take.
const waiting ownership.State = "waiting"

// census returns the age of the member's lease, and how many servers live and matches are in each state.
func (m *Member) census() (age lockstep.Time, servers int, matches map[ownership.State]int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	servers = 1
	for name := range m.others {
		if name != m.id && !m.leases.Expired(name, now) {
			servers++
		}
	}
	matches = map[ownership.State]int{ownership.Playing: 0, ownership.Recovering: 0, ownership.Released: 0, ownership.Failed: 0, waiting: 0}
	for _, e := range m.entries {
		if m.waits(e, now) {
			matches[waiting]++
		} else {
			matches[e.State]++
		}
	}
	return now - m.renewed, servers, matches
}

// waits reports whether a match has no server and no live one could take it. The mutex is held.
func (m *Member) waits(e *Match, now lockstep.Time) bool {
	if e.State == ownership.Failed || e.State != ownership.Released && !m.leases.Expired(e.Server, now) {
		return false
	}
	able, _ := m.able(e, now)
	return len(able) == 0
}

// errStorage: this server cannot renew its lease.
var errStorage = errors.New("the cluster's storage does not respond")

// Check implements [server.Replicator].
func (m *Member) Check() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.leases.Mine(m.now()) {
		return errStorage
	}
	return nil
}

// Open implements [server.Replicator].
func (m *Member) Open(name string, h *lockstep.Header) (server.ReplicatedLog, error) {
	m.mu.Lock()
	id := h.Match.String()
	l, taken, draining := m.claimed[id], m.claimed[id] != nil, m.draining
	delete(m.claimed, id)
	if taken {
		m.open[id] = l
	}
	m.mu.Unlock()
	switch {
	case taken:
		return l, nil
	case draining:
		return nil, server.ErrShutdown
	}
	e, err := m.write(Match{Name: name, ID: id, Game: h.Game, Build: h.Build, Entry: ownership.Entry{Server: m.id, State: ownership.Playing, Term: 1}})
	if err != nil {
		return nil, err
	}
	l = m.newMatchLog(e, h.Match, ownership.End{}, m.options.Conn.Segments(h.Match))
	m.mu.Lock()
	m.open[id] = l
	m.mu.Unlock()
	return l, nil
}

const (
	// movesAtOnce is how many matches move at a time when a server leaves: few, so that players wait only shortly.
	movesAtOnce = 4

	// moveTime is how long a match that moves may be without a server.
	moveTime = 10 * time.Second
)

// Leave gives all matches to other servers, a few at a time, and ends the membership. Matches that nobody can take, or that
// are left when ctx ends, stay until the server is shut down: do that afterwards.
func (m *Member) Leave(ctx context.Context) {
	m.mu.Lock()
	m.draining = true
	s := m.server
	m.mu.Unlock()
	_ = m.renew(ctx) // the others learn that this server takes no matches
	if s == nil {
		return
	}
	var moving sync.WaitGroup
	defer moving.Wait()
	slots := make(chan struct{}, movesAtOnce)
	for _, match := range s.Matches() {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		moving.Go(func() {
			defer func() { <-slots }()
			if !m.hasSuccessor(match.Name()) {
				return
			}
			if err := m.move(ctx, match); err != nil {
				logged.Match(m.options.Log, match.Name(), match.Status().Match).Warn("match not moved", "err", err)
			}
		})
	}
}

// hasSuccessor reports whether another server can take a match.
func (m *Member) hasSuccessor(match string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[match]
	if e == nil {
		return false
	}
	for name, s := range m.others {
		if name != m.id && !m.leases.Expired(name, m.now()) && s.can(Build{e.Game, e.Build}) {
			return true
		}
	}
	return false
}

// move suspends a match and waits until another server has it.
func (m *Member) move(ctx context.Context, match *server.Match) error {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	match.Suspend()
	select {
	case <-match.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	return m.wait(ctx, func() bool {
		e := m.entries[match.Name()]
		return e == nil || e.State == ownership.Failed || e.State == ownership.Playing && e.Server != m.id
	})
}

// leaving reports whether the server gives its matches away.
func (m *Member) leaving() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.draining
}

//go:build !js

package mirror

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server"
)

// A Server is a mirror: an http.Handler, safe for concurrent use.
type Server struct {
	options Options
	front   *server.Server // without matches: its limits
	handler http.Handler
	metrics *metrics
	finding chan struct{} // holds a value for each match that is being looked up
	assets  *assetCache

	mu      sync.Mutex
	matches map[string]*Match
	sockets wsmatch.Places // WebSockets
	closed  bool
	running sync.WaitGroup // matches and connections
}

// maxFinding is the number of matches that are looked up at a time.
const maxFinding = 8

// New returns a Server that follows no match yet.
func New(o Options) (*Server, error) {
	o.complete()
	if o.Source == nil {
		return nil, errors.New("mirror: want a source of matches")
	}
	front, err := server.New(o.Front)
	if err != nil {
		return nil, err
	}
	s := &Server{
		options: o, front: front, finding: make(chan struct{}, maxFinding), matches: make(map[string]*Match),
		assets: newAssetCache(),
	}
	s.metrics = newMetrics(s)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.ready)
	metrics := promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{})
	if o.Front.Authorizer != nil { // otherwise all is public here, and there is no admin
		metrics = front.Operators(metrics)
	}
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /matches/{name}", s.show)
	mux.HandleFunc("GET /matches/{name}/schemas", s.schemas)
	mux.HandleFunc("GET /matches/{name}/assets", s.listAssets)
	mux.HandleFunc("GET /assets/{sum}", s.sendAsset)
	mux.HandleFunc("GET /rules/{file}", s.sendRules)
	mux.HandleFunc("GET /matches/{name}/play", s.play)
	s.handler = front.Guard(mux)
	return s, nil
}

// ServeHTTP serves the HTTP interface; see the package comment.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Listener returns l with the limits of [server.Server.Listener].
func (s *Server) Listener(l net.Listener) net.Listener { return s.front.Listener(l) }

// matchName is the form of a match's name.
var matchName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`)

// Follow returns the match of a name, and begins to follow it if it is not followed yet.
func (s *Server) Follow(ctx context.Context, name string) (*Match, error) {
	if !matchName.MatchString(name) {
		return nil, ErrNoMatch
	}
	if m, err := s.followed(name); m != nil || err != nil {
		return m, err
	}
	select {
	case s.finding <- struct{}{}:
		defer func() { <-s.finding }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if m, err := s.followed(name); m != nil || err != nil { // another request has found it
		return m, err
	}
	follow, err := s.options.Source.find(ctx, name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m := s.matches[name]; {
	case m != nil:
		return m, nil
	case s.closed:
		return nil, ErrClosed
	case len(s.matches) >= s.options.MaxMatches:
		return nil, fmt.Errorf("%w: got %d", ErrFull, len(s.matches))
	}
	m, err := newMatch(s, name)
	if err != nil {
		return nil, err
	}
	s.matches[name] = m
	s.running.Go(func() { m.run(follow) })
	return m, nil
}

// followed returns the match of a name if it is followed, and an error if none can be.
func (s *Server) followed(name string) (*Match, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	return s.matches[name], nil
}

// forget removes a match that is not followed any more.
func (s *Server) forget(m *Match) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.matches, m.name)
}

// Status returns the status of a match, which is at most a second old, or a zero Status if the match is not followed.
func (s *Server) Status(name string) Status {
	s.mu.Lock()
	m := s.matches[name]
	s.mu.Unlock()
	if m == nil {
		return Status{}
	}
	return m.Status()
}

// all returns the matches that are followed.
func (s *Server) all() []*Match {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.matches))
}

// Shutdown sends all spectators away, who come back to another mirror, and waits until they are gone or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, m := range s.all() {
		m.post(input{do: m.shutdown})
	}
	done := make(chan struct{})
	go func() { s.running.Wait(); close(done) }()
	select {
	case <-done:
		return s.front.Shutdown(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		fail(w, http.StatusServiceUnavailable, "shutting_down", "shutting down")
		return
	}
	w.Header().Set("Connection", "close")
	w.Write([]byte("ok\n"))
}

// ready answers whether another match could be followed, as /readyz of a server does.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	closed, matches := s.closed, len(s.matches)
	s.mu.Unlock()
	var reasons []string
	if closed {
		reasons = append(reasons, "the mirror is shutting down")
	}
	if most := s.options.MaxMatches; matches >= most {
		reasons = append(reasons, fmt.Sprintf("got %d matches, want less than %d", matches, most))
	}
	if names := s.darkMatches(); len(names) > 0 {
		reasons = append(reasons, fmt.Sprintf("no data for %d matches, such as %s", len(names), names[0]))
	}
	if why := s.options.Source.away(); why != "" {
		reasons = append(reasons, why)
	}
	h := w.Header()
	h.Set("Connection", "close")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	if len(reasons) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, "not ready\n%s\n", strings.Join(reasons, "\n"))
		return
	}
	fmt.Fprintln(w, "ready")
}

// findTime is the time limit for looking a match up.
const findTime = 5 * time.Second

// requested returns the match that the path names. If there is none, it answers the request and returns nil.
func (s *Server) requested(w http.ResponseWriter, r *http.Request) *Match {
	ctx, cancel := context.WithTimeout(r.Context(), findTime)
	defer cancel()
	m, err := s.Follow(ctx, r.PathValue("name"))
	switch {
	case err == nil && m.Status().dark:
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, "busy", darkText)
	case err == nil:
		return m
	case errors.Is(err, ErrNoMatch):
		fail(w, http.StatusNotFound, "no_match", "no such match")
	case errors.Is(err, ErrFull):
		fail(w, http.StatusServiceUnavailable, "too_many_matches", "the mirror follows its maximum number of matches")
	case errors.Is(err, ErrClosed):
		fail(w, http.StatusServiceUnavailable, "shutting_down", "shutting down")
	default:
		logged.Match(s.options.Log, wsmatch.Clip(r.PathValue("name")), "").Warn("mirror", "err", err)
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, "busy", "the mirror cannot reach the match")
	}
	return nil
}

// play upgrades a request to a WebSocket, and serves it.
func (s *Server) play(w http.ResponseWriter, r *http.Request) {
	from := wsmatch.AddressOf(r.RemoteAddr)
	release, ok := s.reserve(from)
	if !ok {
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusTooManyRequests, "too_many_requests", "too many connections from your address, or to this mirror")
		return
	}
	served := false
	defer func() {
		if !served {
			release()
		}
	}()
	m := s.requested(w, r)
	if m == nil {
		return
	}
	socket := &hijacker{ResponseWriter: w}
	ws, err := websocket.Accept(socket, r, &websocket.AcceptOptions{
		Subprotocols: []string{server.Subprotocol}, OriginPatterns: s.options.Front.Origins, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return // Accept has answered
	}
	if ws.Subprotocol() != server.Subprotocol {
		ws.Close(websocket.StatusPolicyViolation, "want the subprotocol "+server.Subprotocol)
		return
	}
	ws.SetReadLimit(protocol.MaxAuthMessage)
	c := &conn{match: m, ws: ws, addr: from, remote: wsmatch.Clip(r.RemoteAddr), session: logged.SessionOf(r), agent: wsmatch.Clip(r.UserAgent())}
	c.Conn = wsmatch.New(ws, wsmatch.Options{Match: c, Socket: socket.conn, Buffers: &buffers, Queue: maxQueued, Keep: keepBuffer, Over: m.done, OverText: gone})
	served = true
	go func() { // the HTTP server's goroutine would keep its request and a large stack
		defer release()
		defer ws.CloseNow()
		c.serve()
	}()
}

// A hijacker keeps the hijacked connection.
type hijacker struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.conn = c
	return c, rw, err
}

// Unwrap is for [http.ResponseController].
func (h *hijacker) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// reserve takes a place for a WebSocket of an address until release is called, and reports false if there is none.
func (s *Server) reserve(from netip.Prefix) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var leave func()
	if !s.closed {
		leave, ok = s.sockets.Take(from, s.options.MaxConnections, s.options.Front.MaxPerAddress)
	}
	if !ok {
		s.metrics.refused.Inc()
		return nil, false
	}
	s.running.Add(1)
	return func() { leave(); s.running.Done() }, true
}

// show waits until the status of a match is known, and answers with it.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	if v := s.statusOf(w, r); v != nil {
		reply(w, http.StatusOK, v)
	}
}

// schemas answers with the schemas of a match.
func (s *Server) schemas(w http.ResponseWriter, r *http.Request) {
	if v := s.statusOf(w, r); v != nil {
		reply(w, http.StatusOK, protocol.SchemasOf(v.header))
	}
}

// statusOf returns the status of the match that the path names, and waits a short time for its header. Without one it answers the request.
func (s *Server) statusOf(w http.ResponseWriter, r *http.Request) *Status {
	m := s.requested(w, r)
	if m == nil {
		return nil
	}
	got := make(chan *Status, 1)
	for deadline := time.Now().Add(findTime); ; time.Sleep(20 * time.Millisecond) {
		if !m.post(input{do: func() { m.publish(); got <- m.status.Load() }}) {
			break
		}
		select {
		case v := <-got:
			if v.refused != nil {
				fail(w, http.StatusForbidden, "refused", v.refused.Error())
				return nil
			}
			if v.header != nil {
				return v
			}
		case <-m.done:
		case <-r.Context().Done():
			return nil
		}
		if time.Now().After(deadline) {
			break
		}
	}
	w.Header().Set("Retry-After", "1")
	fail(w, http.StatusServiceUnavailable, "busy", "the mirror does not know the match yet")
	return nil
}

// fail answers with an error, as docs/spec/http.md describes it.
func fail(w http.ResponseWriter, status int, code, message string) {
	reply(w, status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}

// reply answers with a value as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	b, _ := json.Marshal(v) // no value of ours has an error
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// metrics are the mirror's metrics for Prometheus. Those with the label match are of the matches that are followed now.
type metrics struct {
	registry *prometheus.Registry
	refused  prometheus.Counter
	totals   []prometheus.Counter // of totals
	resyncs  *prometheus.CounterVec
}

// totals are the counters of what audiences do.
var totals = []struct {
	name, help string
	of         func(*audience.Stats) float64
}{
	{"samestep_mirror_received_bytes_total", "Bytes of messages of spectators.", func(s *audience.Stats) float64 { return float64(s.BytesIn) }},
	{"samestep_mirror_sent_bytes_total", "Bytes of messages to spectators.", func(s *audience.Stats) float64 { return float64(s.BytesOut) }},
	{"samestep_mirror_keyframe_bytes_total", "Bytes of keyframes to spectators.", func(s *audience.Stats) float64 { return float64(s.SyncBytes) }},
	{"samestep_mirror_welcomes_total", "Spectators welcomed.", func(s *audience.Stats) float64 { return float64(s.Welcomes) }},
	{"samestep_mirror_source_losses_total", "Times that a mirror came back to a match that it had lost.", func(s *audience.Stats) float64 { return float64(s.Cuts) }},
	{"samestep_mirror_desyncs_total", "Checksums of spectators that differ from the log's.", func(s *audience.Stats) float64 { return float64(s.Desyncs) }},
}

func newMetrics(s *Server) *metrics {
	m := &metrics{registry: measure.NewRegistry()}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		m.registry.MustRegister(c)
		return c
	}
	m.refused = counter("samestep_mirror_refused_total", "WebSockets refused for want of a place.")
	for _, t := range totals {
		m.totals = append(m.totals, counter(t.name, t.help))
	}
	m.resyncs = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "samestep_mirror_resyncs_total", Help: "Keyframes to spectators besides the first one, by reason."}, []string{"reason"})
	for _, reason := range []string{"source", "slow"} {
		m.resyncs.WithLabelValues(reason) // starts at 0, as a rate needs
	}
	m.registry.MustRegister(m.resyncs, measure.Collector(s.collect))
	m.registry.MustRegister(s.options.Front.Metrics...)
	return m
}

// collect gives the present values of all matches.
func (s *Server) collect(to chan<- prometheus.Metric) {
	var behind, dark float64
	for _, x := range s.all() {
		v := x.Status()
		if behind = max(behind, v.behind.Seconds()); v.dark {
			dark++
		}
		measure.Gauge(to, "samestep_mirror_spectators", "Spectators of a match.", float64(v.Spectators), "match", v.Name)
		measure.Gauge(to, "samestep_mirror_tick", "Last tick of a match that spectators may see.", float64(v.Tick), "match", v.Name)
		measure.Gauge(to, "samestep_mirror_source_lag_ticks", "Ticks that the owner of a match has, as it says, and the mirror has not.", float64(v.Lag), "match", v.Name)
		if v.figures {
			measure.Gauge(to, "samestep_mirror_memory_bytes", "Memory for the spectators of a match, without sockets. A match whose spectators have a delay has none.", float64(v.Memory), "match", v.Name)
		}
	}
	measure.Gauge(to, "samestep_mirror_behind_seconds", "The longest time for which a match that is followed has lacked what its owner says it has stored.", behind)
	measure.Gauge(to, "samestep_mirror_dark_matches", "Matches that are followed, and of which nothing comes although their owners store more.", dark)
}

// count adds what an audience has done since the last call.
func (m *metrics) count(x, before *audience.Stats) {
	for i, t := range totals {
		m.totals[i].Add(t.of(x) - t.of(before))
	}
	m.resyncs.WithLabelValues("source").Add(float64(x.Resyncs - before.Resyncs))
	m.resyncs.WithLabelValues("slow").Add(float64(x.Strikes - before.Strikes))
	*before = *x
}

// Errors of a [Source] and of [Server.Follow].
var (
	ErrNoMatch = errors.New("mirror: no such match")
	ErrFull    = errors.New("mirror: too many matches")
	ErrClosed  = errors.New("mirror: shut down")
)

// Options configure a [Server]. A zero field has the default that its comment names.
type Options struct {
	Source Source // of the matches; required

	// Audience configures each match: its delay, the number of its spectators, and their limits.
	Audience audience.Options

	// Front has the limits of addresses and connections, the names of the host, the proxies and the origins, and an Authorizer for
	// the tokens of spectators; without one everybody may watch. Its other fields have no meaning here.
	Front server.Options

	MaxMatches     int           // 100
	MaxConnections int           // WebSockets: 16,384, at most three quarters of the file descriptors
	Idle           time.Duration // a match without spectators is followed for this long: 1 m
	Log            *slog.Logger  // slog.Default()

	darkAfter time.Duration // how long nothing may come of a match whose owner stores more: 10 s; tests wait less
}

func (o *Options) complete() {
	o.MaxMatches = cmp.Or(o.MaxMatches, 100)
	o.MaxConnections = cmp.Or(o.MaxConnections, 16<<10)
	o.Idle = cmp.Or(o.Idle, time.Minute)
	o.Log = cmp.Or(o.Log, slog.Default())
	o.darkAfter = cmp.Or(o.darkAfter, 10*time.Second)
	o.Front.Log = cmp.Or(o.Front.Log, o.Log)
	o.Front.MaxPerAddress = cmp.Or(o.Front.MaxPerAddress, 64)
	if o.Front.Descriptors > 0 {
		o.MaxConnections = min(o.MaxConnections, max(1, o.Front.Descriptors/4*3))
	}
}

// A Source is where matches come from: an [Upstream] or a [Cluster].
type Source interface {
	// find looks a match up. The error is [ErrNoMatch] if there is none. follow begins to feed its audience; the match's goroutine calls
	// it, and the methods of the feed.
	find(ctx context.Context, name string) (follow func(*Match) feed, err error)

	// away returns why no match can be found right now, or "" if the source does not know of a reason.
	away() string
}

// A feed follows a match for its audience.
type feed interface {
	act()                // does what there is to do, without waiting; called after each input
	next() lockstep.Time // when to call act, unless there is an input before
	refresh()            // gets a new keyframe, if it can
	lag() lockstep.Tick  // ticks that the owner of the match has and the audience has not, as far as known

	// progress returns a number that changes with all that comes, and whether the owner of the match goes on, and has stored more.
	progress() (at uint64, behind bool)
	close()
}

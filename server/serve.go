package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/replay"
)

// New returns a Server without matches.
func New(o Options) (*Server, error) {
	o.complete()
	if err := errors.Join(o.checkProxies(), o.checkReplicator()); err != nil {
		return nil, err
	}
	if shared, ok := o.Replicator.(interface{ Denials() Denials }); ok && o.Denials == nil {
		o.Denials = shared.Denials()
	}
	if o.Dir != "" {
		if err := os.MkdirAll(filepath.Join(o.Dir, liveFolder), 0o700); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		if o.Denials == nil {
			o.Denials = denialsIn(o.Dir)
		}
	}
	s := &Server{options: o, log: o.Log, matches: make(map[string]*Match), guests: make(map[*guestUsage]struct{}), recoveries: recoveries{pending: make(map[string]*View), failed: make(map[string]*failedMatch), left: make(chan struct{})}, seals: make(chan struct{}, 1), comparing: make(chan struct{}, 1)}
	s.storage = storage{dir: o.Dir, live: filepath.Join(o.Dir, liveFolder), reserve: func() int64 { return s.limits.Load().DiskReserve }, free: files.Free, log: o.Log, operations: &s.operations}
	s.refusals = newRefusalLog(refusedLines, refusedLinesAtOnce)
	s.turned = newTurnedLogs()
	s.newFile = func(path string) (file, error) { return replay.Create(path) }
	s.sealCtx, s.stopSealing = context.WithCancel(context.Background())
	s.assets = assetStore{held: make(map[string]*heldAsset)}
	s.replays = replayFolder{dir: o.Dir, live: make(map[string]bool), sending: make(map[netip.Prefix]int)}
	if err := s.setHosts(); err != nil {
		return nil, err
	}
	if err := checkOrigins(o.Origins); err != nil {
		return nil, err
	}
	s.limit()
	s.metrics = newMetrics()
	s.metrics.registry.MustRegister(&matchCollector{s})
	for _, c := range o.Metrics {
		if err := s.metrics.registry.Register(c); err != nil {
			return nil, fmt.Errorf("server: metrics: %w", err)
		}
	}
	s.keeper = newKeeper(o.Denials, o.Log)
	if err := s.watchDenials(); err != nil {
		return nil, fmt.Errorf("server: the bans and revocations cannot be read: %w", err)
	}
	s.mux = s.routes()
	s.pipes = newPipeListener(HTTPServer("", s))
	s.sweepLater()
	return s, nil
}

// limit sets the limits of connections and the budgets of addresses.
func (s *Server) limit() {
	o := &s.options
	all := o.Limits()
	s.limits.Store(&all)
	share := s.descriptorShare()
	s.unauthenticated = connLimit[*conn]{max: s.mostUnauthenticated(&all)}
	s.paths = connLimit[*path]{max: maxUnnamedPaths}
	trial := min(maxSilent, max(share/descriptorShares, 1))
	s.silent, s.onTrial = connLimit[*socket]{max: trial}, connLimit[*socket]{max: trial}
	s.reservedConns = connLimit[*conn]{max: trial}
	s.sockets = connLimit[*socket]{max: s.mostSockets(&all)}
	s.spectators = connLimit[*conn]{max: share}
	s.authenticated = addressLimit{max: o.MaxPerAddress, conns: make(map[netip.Prefix][]*conn)}
	opened := max(leastConnects, o.MaxPerAddress)
	s.connects = newBudgets[netip.Prefix](connectsAtOnce*opened, connectPeriod)
	s.handshakes = newBudgets[netip.Prefix](connectsAtOnce*opened, connectPeriod)
	s.kept = newBudgets[netip.Prefix](connectsAtOnce*opened, connectPeriod)
	s.trials = newBudgets[netip.Prefix](trials*opened, time.Second)
	s.keptEach = newBudgets[reservation](reservedAtOnce, reservedPeriod)
	s.halfOpen = halfOpen{of: make(map[netip.Prefix]int)}
	s.sent = newBudgets[netip.Prefix](maxSent, time.Second)
	s.reads = newBudgets[netip.Prefix](o.MaxReads, time.Second)
	s.frames = newBudgets[netip.Prefix](maxAddressFrames, time.Minute)
	s.guesses = newBudgets[netip.Prefix](o.MaxGuesses, guessPeriod)
	s.guestTries = newBudgets[netip.Prefix](maxGuestTries, guestTryPeriod)
	s.guestDisk = newBudgets[struct{}](o.GuestDiskBytes, guestDiskPeriod)
}

// ServeHTTP serves the HTTP interface; see the package comment.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.guarded(w, r, s.route)
}

// Dial connects to the server from the same process, for example for the server's own bots. It can be the DialContext
// of an http.Transport. Each connection has its own address, so it uses nothing of the limits of clients on the
// network. Everything else, including tokens, is as for them.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	l := s.pipes
	l.once.Do(func() { go l.server.Serve(l) })
	ours, theirs := net.Pipe()
	select {
	case l.conns <- &pipeConn{theirs, l.made.Add(1)}:
		return ours, nil
	case <-l.closed:
		return nil, ErrShutdown
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Public returns a handler without the calls of admins and the metrics, for servers whose operators have an address of
// their own.
func (s *Server) Public() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), publicKey{}, true)))
	})
}

// Private returns a handler at whose address are only operators, who need no token for the metrics.
func (s *Server) Private() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), privateKey{}, true)))
	})
}

func (s *Server) scrape(w http.ResponseWriter, r *http.Request) {
	if isPublic(r) {
		fail(w, codeNoRoute, "the metrics have another address on this server")
		return
	}
	s.Operators(promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{})).ServeHTTP(w, r)
}

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi.json", s.rateLimited(s.document))
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.rateLimited(s.scrape))
	mux.HandleFunc("GET /matches", s.rateLimited(s.list))
	mux.HandleFunc("POST /matches", s.audited(s.createMatch))
	mux.HandleFunc("GET /matches/{name}", s.rateLimited(s.show))
	mux.HandleFunc("GET /matches/{name}/schemas", s.rateLimited(s.schemas))
	mux.HandleFunc("GET /matches/{name}/assets", s.rateLimited(s.listAssets))
	mux.HandleFunc("GET /matches/{name}/datagrams", s.rateLimited(s.showDatagrams))
	mux.HandleFunc("GET /assets/{sum}", s.downloads(s.sendAsset))
	if s.options.Rules != nil {
		mux.HandleFunc("GET /rules/{file}", s.downloads(s.sendRules))
	}
	mux.HandleFunc("GET /matches/{name}/save", s.admin(s.downloads(s.save)))
	mux.HandleFunc("DELETE /matches/{name}", s.admin(s.end))
	mux.HandleFunc("POST /matches/{name}/{action}", s.admin(s.act, "seat", "percent"))
	mux.HandleFunc("GET /matches/{name}/connections", s.admin(s.listConnections))
	mux.HandleFunc("GET /matches/{name}/bans", s.admin(s.listBans))
	mux.HandleFunc("POST /matches/{name}/ban", s.admin(s.ban, append(targetNames, "seat", "peer", "for", "reason")...))
	mux.HandleFunc("POST /matches/{name}/unban", s.admin(s.unban, targetNames...))
	mux.HandleFunc("GET /revocations", s.admin(s.listRevocations))
	mux.HandleFunc("POST /revocations", s.admin(s.revoke, "subject", "name", "token", "for", "reason"))
	mux.HandleFunc("DELETE /revocations", s.admin(s.unrevoke, "subject", "name", "token"))
	mux.HandleFunc("GET /matches/{name}/play", s.play)
	if s.options.Dir != "" {
		mux.HandleFunc("GET /replays", s.rateLimited(s.listReplays))
		mux.HandleFunc("GET /replays/{name}", s.downloads(s.download))
		mux.HandleFunc("DELETE /replays/{name}", s.audited(s.deleteReplay))
	}
	return mux
}

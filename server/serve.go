package server

import (
	"github.com/seed-49bee653/samestep/server/internal/guests"

	"github.com/seed-49bee653/samestep/server/internal/front"

	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"

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
	s := &Server{options: o, log: o.Log, matches: make(map[string]*Match), gates: newGates(&o), guests: guests.New(o.GuestDiskBytes), proxies: front.Proxies{Trusted: o.TrustedProxies, Unix: o.TrustUnix, Header: o.ProxyHeader}, origins: o.Origins, recoveries: recoveries{pending: make(map[string]*View), failed: make(map[string]*failedMatch), left: make(chan struct{})}, seals: make(chan struct{}, 1), comparing: make(chan struct{}, 1)}
	s.storage = storage{dir: o.Dir, live: filepath.Join(o.Dir, liveFolder), reserve: func() int64 { return s.gates.limits.Load().DiskReserve }, free: files.Free, log: o.Log, operations: &s.operations}
	s.refusals = newRefusalLog(refusedLines, refusedLinesAtOnce)
	s.turned = newTurnedLogs()
	s.newFile = func(path string) (file, error) { return replay.Create(path) }
	s.sealCtx, s.stopSealing = context.WithCancel(context.Background())
	s.assets = assetStore{held: make(map[string]*heldAsset)}
	s.replays = replayFolder{dir: o.Dir, live: make(map[string]bool), sending: make(map[netip.Prefix]int)}
	cluster, _ := o.Replicator.(front.Cluster)
	var err error
	if s.hosts, err = front.NewHosts(o.AllowedHosts, cluster); err != nil {
		return nil, err
	}
	if err := s.origins.Check(); err != nil {
		return nil, err
	}
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

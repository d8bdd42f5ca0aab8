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

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server/internal/front"
	"github.com/seed-49bee653/samestep/server/internal/guests"
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
	s := &Server{
		services: services{
			options: o, log: o.Log, metrics: newMetrics(), gates: newGates(&o), guests: guests.New(o.GuestDiskBytes), keeper: newKeeper(o.Denials, o.Log),
			newFile: func(path string) (file, error) { return replay.Create(path) },
			assets:  &assetStore{held: make(map[string]*heldAsset)},
			replays: &replayFolder{dir: o.Dir, live: make(map[string]bool), sending: make(map[netip.Prefix]int)},
		},
		proxies: front.Proxies{Trusted: o.TrustedProxies, Unix: o.TrustUnix, Header: o.ProxyHeader}, origins: o.Origins,
	}
	if err := s.compose(&o); err != nil {
		return nil, err
	}
	s.metrics.registry.MustRegister(&matchCollector{s})
	for _, c := range o.Metrics {
		if err := s.metrics.registry.Register(c); err != nil {
			return nil, fmt.Errorf("server: metrics: %w", err)
		}
	}
	if err := s.denier.watch(); err != nil {
		return nil, fmt.Errorf("server: the bans and revocations cannot be read: %w", err)
	}
	s.mux = s.routes()
	s.pipes = newPipeListener(HTTPServer("", s))
	s.denier.sweepLater()
	return s, nil
}

// compose makes the parts of a server that know others.
func (s *Server) compose(o *Options) (err error) {
	cluster, _ := o.Replicator.(front.Cluster)
	if s.hosts, err = front.NewHosts(o.AllowedHosts, cluster); err != nil {
		return err
	}
	if err = s.origins.Check(); err != nil {
		return err
	}
	revoked, limits := &revocations{}, &s.gates.limits
	s.turned = newTurned(o.Log, s.metrics.refused)
	s.registry = newRegistry(o, s.gates)
	s.storage = &storage{dir: o.Dir, live: filepath.Join(o.Dir, liveFolder), reserve: func() int64 { return limits.Load().DiskReserve }, free: files.Free, log: o.Log, operations: &s.operations}
	s.access = &access{authorizer: o.Authorizer, revoked: revoked, registry: s.registry, gates: s.gates, turned: s.turned, log: o.Log, refusals: newRefusalLog(refusedLines, refusedLinesAtOnce)}
	s.denier = &denier{keeper: s.keeper, revoked: revoked, registry: s.registry, access: s.access, log: o.Log}
	s.sealer = newSealer(o, s.replays, s.metrics.failures)
	s.recoverer = &recoverer{
		starter: s, registry: s.registry, denier: s.denier, replays: s.replays, assets: s.assets, sealer: s.sealer, metrics: s.metrics, log: o.Log,
		elsewhere: o.Replicator != nil, comparing: make(chan struct{}, 1),
	}
	s.matchAPI = &matchAPI{registry: s.registry, access: s.access, gates: s.gates, guests: s.guests, keeper: s.keeper, sealer: s.sealer}
	s.creator = &creator{
		maker: s, newMatch: o.NewMatch, host: &s.options.Host, registry: s.registry, gates: s.gates, guests: s.guests, storage: s.storage,
		access: s.access, turned: s.turned, log: o.Log,
	}
	s.replayAPI = &replayAPI{
		replays: s.replays, archive: o.Archive, public: o.Replays, here: o.ReplaysHere, bundles: o.Bundles,
		access: s.access, turned: s.turned, log: o.Log,
	}
	return nil
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
	mux.HandleFunc("GET /openapi.json", s.access.rateLimited(s.document))
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.access.rateLimited(s.scrape))
	mux.HandleFunc("GET /matches", s.access.rateLimited(s.matchAPI.list))
	mux.HandleFunc("POST /matches", s.access.audited(s.creator.create))
	mux.HandleFunc("GET /matches/{name}", s.access.rateLimited(s.matchAPI.show))
	mux.HandleFunc("GET /matches/{name}/schemas", s.access.rateLimited(s.matchAPI.schemas))
	mux.HandleFunc("GET /matches/{name}/assets", s.access.rateLimited(s.matchAPI.listAssets))
	mux.HandleFunc("GET /matches/{name}/datagrams", s.access.rateLimited(s.showDatagrams))
	mux.HandleFunc("GET /assets/{sum}", s.replayAPI.limited(s.sendAsset))
	if s.options.Rules != nil {
		mux.HandleFunc("GET /rules/{file}", s.replayAPI.limited(s.sendRules))
	}
	mux.HandleFunc("GET /matches/{name}/save", s.access.admin(s.replayAPI.limited(s.matchAPI.save)))
	mux.HandleFunc("DELETE /matches/{name}", s.access.admin(s.matchAPI.end))
	mux.HandleFunc("POST /matches/{name}/{action}", s.access.admin(s.matchAPI.act, "seat", "percent"))
	mux.HandleFunc("GET /matches/{name}/connections", s.access.admin(s.matchAPI.listConnections))
	mux.HandleFunc("GET /matches/{name}/bans", s.access.admin(s.matchAPI.listBans))
	mux.HandleFunc("POST /matches/{name}/ban", s.access.admin(s.matchAPI.ban, append(targetNames, "seat", "peer", "for", "reason")...))
	mux.HandleFunc("POST /matches/{name}/unban", s.access.admin(s.matchAPI.unban, targetNames...))
	mux.HandleFunc("GET /revocations", s.access.admin(s.denier.list))
	mux.HandleFunc("POST /revocations", s.access.admin(s.denier.revoke, "subject", "name", "token", "for", "reason"))
	mux.HandleFunc("DELETE /revocations", s.access.admin(s.denier.unrevoke, "subject", "name", "token"))
	mux.HandleFunc("GET /matches/{name}/play", s.play)
	if s.options.Dir != "" {
		mux.HandleFunc("GET /replays", s.access.rateLimited(s.replayAPI.listReplays))
		mux.HandleFunc("GET /replays/{name}", s.replayAPI.limited(s.replayAPI.download))
		mux.HandleFunc("DELETE /replays/{name}", s.access.audited(s.replayAPI.deleteReplay))
	}
	return mux
}

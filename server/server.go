package server

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-49bee653/samestep/internal/files"
	"github.com/seed-49bee653/samestep/internal/measure"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server/internal/front"
	"github.com/seed-49bee653/samestep/server/internal/guests"
)

// Subprotocol is the WebSocket subprotocol that a client must offer.
const Subprotocol = "samestep.v1"

// A Server runs matches. It is an http.Handler, and safe for concurrent use.
//
// It is a composition: each of its parts has its own state, and knows of the others only those that are its fields.
type Server struct {
	services

	// Connections and requests, before they reach a route.
	hosts     *front.Hosts
	proxies   front.Proxies
	origins   front.Origins
	others    http.Handler // see HandleOtherSockets; or nil
	pipes     *pipeListener
	datagrams atomic.Pointer[datagramServer]

	// Routes.
	mux       *http.ServeMux
	matchAPI  *matchAPI
	creator   *creator
	replayAPI *replayAPI

	denier    *denier
	recoverer *recoverer
	storage   *storage
}

// Matches returns the matches by name.
func (s *Server) Matches() []*Match { return s.registry.running() }

// OpenReplay opens the replay of a match that is over by the name of its file, in Options.Dir or in the archive. The error
// wraps [fs.ErrNotExist] if there is none.
func (s *Server) OpenReplay(ctx context.Context, name string) (*os.File, error) {
	return s.replayAPI.open(ctx, name)
}

// Revoke refuses tokens from now on, in all matches and over HTTP, as if they were unknown. It ends the connections and
// sessions that used them, and returns what it has ended when that is done, or ctx's error. A server has at most 1,024 revocations. They
// are in Options.Denials: the next server with these refuses the tokens, too, and so do others that share them. The error wraps
// [ErrStorage] if the revocation holds only in this process, because it could not be kept.
func (s *Server) Revoke(ctx context.Context, r Revocation) (host.Ended, error) {
	return s.denier.revokeNow(ctx, r)
}

// Revocations returns the active revocations.
func (s *Server) Revocations() []Revocation { return s.denier.revoked.active(time.Now()) }

// Expel calls host.Admin.Expel in all matches: it ends the connections, seats and sessions of the grants for which match
// reports true. match is called in the goroutines of the matches. Expel returns what it has ended, and ctx's error if a
// match did not answer in time.
func (s *Server) Expel(ctx context.Context, match func(*host.Grant) bool, reason string) (ended host.Ended, err error) {
	return s.denier.expel(ctx, match, reason)
}

// Recover resumes matches in the background, on all processors. It returns when their logs are locked and their names
// are reserved. From then on their requests are answered with 503 and Retry-After, and their WebSockets with closing.
// Each match begins to run when it is resumed.
//
// Before Recover plays a log it notes that in a file beside it, until the match has run for two seconds. If the process ends before, the
// next Recover tries the matches that have such a note alone, one at a time, after all others. Of one that ends the process twice so,
// the error is [ErrSetAside].
//
// Recover calls done with the error of each match, see [Server.Resume], from several goroutines. It also logs the error
// with the log's path. The log stays as it is, and its name is taken until the server ends or an admin has it tried again; only the
// replay of a match that is over leaves the live folder.
func (s *Server) Recover(all []Interrupted, done func(Interrupted, *Match, error)) {
	s.recoverer.recover(all, done)
}

// New returns a Server without matches.
func New(o Options) (*Server, error) {
	o.complete()
	if err := o.checkProxies(); err != nil {
		return nil, err
	}
	if o.Heavy < 0 || o.Heavy > 100 {
		return nil, fmt.Errorf("server: Heavy: got %d, want 0 to 100 percent", o.Heavy)
	}
	if o.Replicator != nil && o.Dir == "" {
		return nil, errors.New("server: got a Replicator and no Dir, want both: a replay is written as a file first")
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
			replays: &replayFolder{dir: o.Dir, live: make(map[string]bool)},
		},
		proxies: front.Proxies{Trusted: o.TrustedProxies, Unix: o.TrustUnix, Header: o.ProxyHeader}, origins: o.Origins,
	}
	if err := s.compose(&o); err != nil {
		return nil, err
	}
	s.metrics.registry.MustRegister(measure.Collector(s.collect))
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
	s.denier = &denier{keeper: s.keeper, revoked: revoked, registry: s.registry, log: o.Log}
	s.sealer = newSealer(o, s.replays, s.metrics.failures)
	s.recoverer = &recoverer{
		starter: s, registry: s.registry, denier: s.denier, replays: s.replays, assets: s.assets, sealer: s.sealer, metrics: s.metrics, log: o.Log,
		elsewhere: o.Replicator != nil, comparing: make(chan struct{}, 1),
	}
	s.matchAPI = &matchAPI{registry: s.registry, access: s.access, gates: s.gates, guests: s.guests, keeper: s.keeper, sealer: s.sealer}
	s.creator = &creator{
		make: s.Create, like: s.Like, newMatch: o.NewMatch, host: &s.options.Host, registry: s.registry, gates: s.gates, guests: s.guests, storage: s.storage,
		access: s.access, turned: s.turned, log: o.Log,
	}
	s.replayAPI = &replayAPI{
		replays: s.replays, archive: o.Archive, public: o.Replays, here: o.ReplaysHere, bundles: o.Bundles,
		access: s.access, turned: s.turned, log: o.Log,
	}
	return nil
}

// ServeHTTP serves the HTTP interface of docs/spec/http.md.
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
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.ServeHTTP(w, public.mark(r)) })
}

// Private returns a handler at whose address are only operators, who need no token for the metrics.
func (s *Server) Private() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.ServeHTTP(w, private.mark(r)) })
}

func (s *Server) scrape(w http.ResponseWriter, r *http.Request) {
	if public.of(r) {
		fail(w, codeNoRoute, "the metrics have another address on this server")
		return
	}
	s.Operators(promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{})).ServeHTTP(w, r)
}

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi.json", s.access.rateLimited(func(w http.ResponseWriter, _ *http.Request) { replyJSON(w, http.StatusOK, openAPI) }))
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
		mux.HandleFunc("GET /rules/{file}", s.replayAPI.limited(func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(assetTimeout)) // without it, the limit of all answers applies
			s.options.Rules.ServeHTTP(&foreignErrors{ResponseWriter: w}, r)
		}))
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

// Guard returns h behind the checks that a Server makes before its own routes: the name of the host, the proxies, the origin of a WebSocket, the
// reads of an address. Control frames of the WebSockets that h accepts are limited. h limits everything else. A program that serves other
// things than matches, such as a mirror, needs a Server without matches for it, and its [Server.Listener].
func (s *Server) Guard(h http.Handler) http.Handler {
	reads := s.access.rateLimited(h.ServeHTTP)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.guarded(w, r, func(w http.ResponseWriter, r *http.Request) {
			if slices.Contains(listed(r.Header, "Upgrade"), "websocket") {
				h.ServeHTTP(&otherHijacker{hijacker{ResponseWriter: w, budgets: s.gates.frames, from: wsmatch.AddressOf(r.RemoteAddr)}}, r)
				return
			}
			reads(w, r)
		})
	})
}

// Admin returns h behind the checks of [Server.Guard], for admins only. What they do is audited.
func (s *Server) Admin(h http.Handler) http.Handler { return s.Guard(s.access.onlyAdmins(h.ServeHTTP)) }

// guarded checks the host of a request, and passes it on as one of its client.
func (s *Server) guarded(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	w = closeOnError{w}
	if !s.hosts.Allow(r) {
		s.turned.away("host", r.RemoteAddr)
		fail(w, codeHost, "host not allowed; see serve --set allowed-host=NAME")
		return
	}
	s.byClient(w, r, s.fromAllowedPage(next))
}

// ErrProxy is wrapped by the error of [New] for an unknown Options.ProxyHeader, and for Options.TrustedProxies that are
// invalid or hold all addresses.
var ErrProxy = errors.New("server: want the addresses of proxies")

// checkProxies refuses unknown headers, invalid networks, and the network of all addresses.
func (o *Options) checkProxies() error {
	if h := o.ProxyHeader; h != front.XForwardedFor && h != front.Forwarded {
		return fmt.Errorf("%w: got the header %q, want %s or %s", ErrProxy, h, front.XForwardedFor, front.Forwarded)
	}
	for _, p := range o.TrustedProxies {
		if !p.IsValid() || p.Bits() == 0 {
			return fmt.Errorf("%w: got %v", ErrProxy, p)
		}
	}
	return nil
}

// byClient serves a request that came through a proxy as a request of its client. It spends the client's budgets of
// connections and of bytes sent.
func (s *Server) byClient(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	from, forwarded := s.proxies.Client(r)
	if !forwarded {
		next(w, r)
		return
	}
	client := wsmatch.AddressOf(from.String())
	if !s.gates.connects.Spend(client, 1, time.Now()) {
		if !s.access.reserved(r, client) {
			s.turned.away("connecting", from.String())
			fail(w, codeRequests, "too many requests from your address")
			return
		}
		r = withReserve(r)
	}
	if x, ok := r.Context().Value(socketKey{}).(*socket); ok {
		x.charged.Store(&client)
		defer x.charged.Store(nil)
	}
	r = r.WithContext(r.Context()) // a copy
	if from.IsValid() {
		r.RemoteAddr = from.String()
	}
	next(w, r)
}

// route calls the handler of a request's method and path, or that of other WebSockets.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	if s.others != nil && IsOtherSocket(r) {
		s.others.ServeHTTP(&otherHijacker{hijacker{ResponseWriter: w, budgets: s.gates.frames, from: wsmatch.AddressOf(r.RemoteAddr)}}, r)
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		w = &foreignErrors{ResponseWriter: w}
	}
	s.mux.ServeHTTP(w, r)
}

// fromAllowedPage refuses a WebSocket that the page of another host opens. A browser names the host of the page in
// Origin, and programs send none. The log says what would let the page in.
func (s *Server) fromAllowedPage(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" || !slices.Contains(listed(r.Header, "Upgrade"), "websocket") || s.origins.Allow(origin, r.Host) {
			next(w, r)
			return
		}
		fix := "none: Origin names no host, as browsers do, such as http://play.example"
		if u, err := url.Parse(origin); err == nil && u.Host != "" {
			fix = "the setting origin: " + wsmatch.Clip(u.Host)
		} else if origin == "null" {
			fix = "serve the page by HTTP: a browser names no host of a page from a file"
		}
		s.turned.awayFrom(s.log, "origin", r.RemoteAddr, "origin", wsmatch.Clip(origin), "fix", fix)
		fail(w, codeOrigin, "pages of this origin are not allowed; see serve --set origin=HOST")
	}
}

// openAPI describes the HTTP interface for programs; docs/spec/http.md, a page made from it, for people.
//
//go:embed openapi.json
var openAPI []byte

// SetLimits changes limits at once. Budgets keep what is spent of them. Connections beyond a limit that has changed are closed, as if
// one more had come; matches beyond one go on.
func (s *Server) SetLimits(l Limits) {
	all, now := l.WithDefaults(), time.Now()
	s.gates.resize(&all, now)
	s.guests.SetDisk(all.GuestDiskBytes, now)
	for _, m := range s.registry.running() {
		go m.post(input{do: m.takeLimits}) // it may be busy
	}
}

// Drain begins a planned stop: from now on no match can be created or resumed, and the server is not ready. Drain waits
// until all matches are over, or returns ctx's error. [Server.Shutdown] then suspends the rest.
func (s *Server) Drain(ctx context.Context) error {
	s.registry.close(false)
	return s.registry.wait(ctx)
}

// Draining reports whether no match can be created or resumed any more, because of [Server.Drain] or [Server.Shutdown].
func (s *Server) Draining() bool {
	draining, _, _ := s.registry.load()
	return draining
}

// Shutdown suspends all matches concurrently: their clients are told when to reconnect, and [Server.Resume] continues
// each match from its replay. A match without a replay ends. A match that is being created does not start. Then Shutdown
// seals the replays of matches that are over until ctx ends; the others stay as they were written. If a match has not
// stopped by then the error wraps ctx's, and says what the disk has not taken.
func (s *Server) Shutdown(ctx context.Context) error {
	s.registry.close(true)
	s.denier.stop()
	s.pipes.close()
	defer context.AfterFunc(ctx, s.sealer.stop)()
	defer s.sealer.stop()
	defer s.pipes.server.Close()
	for _, m := range s.registry.running() {
		go m.Do(ctx, func(*host.Host) { m.suspend() })
	}
	late := time.AfterFunc(storagePatience, func() {
		if why := s.registry.unwritten(s.operations.age()); why != nil {
			s.log.Warn("waiting for the disk", "err", why)
		}
	})
	defer late.Stop()
	if err := s.registry.wait(ctx); err != nil {
		if why := cmp.Or(s.registry.unwritten(s.operations.age()), s.registry.hung()); why != nil {
			err = fmt.Errorf("server: %w: %w", why, err)
		}
		return err
	}
	if !s.sealer.await(ctx) {
		return fmt.Errorf("server: a replay is being sealed: %w: %w", errStuck, ctx.Err())
	}
	s.keeper.stop(ctx)
	return nil
}

// namedUnwritten is the number of matches that unwritten names.
const namedUnwritten = 10

// unwritten says what a disk that does not answer lacks, or returns nil if it has answered.
func (reg *registry) unwritten(age time.Duration) error {
	if age == 0 {
		return nil
	}
	var lacks []string
	for _, m := range reg.running() {
		select {
		case <-m.done:
			continue
		default:
		}
		switch {
		case !m.log.Recorded():
			continue
		case m.log.Backlog().Bytes > 0:
			lacks = append(lacks, fmt.Sprintf("%s (%d bytes)", m.spec.Name, m.log.Backlog().Bytes))
		default:
			lacks = append(lacks, m.spec.Name+" (the last sync)")
		}
	}
	text := fmt.Sprintf("the disk has not answered for %v", age.Round(time.Second))
	if more := len(lacks) - namedUnwritten; more > 0 {
		lacks = append(lacks[:namedUnwritten], fmt.Sprintf("%d more", more))
	}
	if len(lacks) > 0 {
		text += ", and lacks the end of the logs of " + strings.Join(lacks, ", ")
	}
	return errors.New(text)
}

// hung returns an error that names the matches whose rules do not come back from a tick, or nil.
func (reg *registry) hung() error {
	var names []string
	for _, m := range reg.running() {
		if m.hangs() {
			names = append(names, m.Name())
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("the rules do not come back from a tick of %s", strings.Join(names, ", "))
}

// close begins a planned stop, or at once: then matches that are launching do not start.
func (reg *registry) close(now bool) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	reg.draining, reg.closed = true, reg.closed || now
}

// wait waits until no match runs. The server must be closed or draining.
func (reg *registry) wait(ctx context.Context) error {
	launched := make(chan struct{})
	go func() {
		reg.launching.Wait()
		close(launched)
	}()
	select {
	case <-launched:
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, m := range reg.running() {
		select {
		case <-m.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// sendAsset sends an asset that a match of this server lists, or the part of it that the request's Range names.
func (s *Server) sendAsset(w http.ResponseWriter, r *http.Request) {
	sum := r.PathValue("sum")
	content := s.assets.find(sum)
	if content == nil || !record.IsAssetSum(sum) {
		fail(w, codeNoAsset, "no match of this server has this asset")
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(assetTimeout)) // without it, the limit of all answers applies
	sendsFile(w, "", "public, max-age=31536000, immutable")
	w.Header().Set("ETag", `"`+sum+`"`)
	http.ServeContent(&foreignErrors{ResponseWriter: w}, r, "", time.Time{}, bytes.NewReader(content))
}

// assetTimeout is the longest time that an asset or a module of rules may take to be sent.
const assetTimeout = 10 * time.Minute

// Like returns the spec of a match like another one: of the same game, with the same settings, seed and configuration, and with what
// MatchSpec.Again adds. It has no name. id is that of a [Status], of a match that this server runs, or of one of the last that
// have left it; otherwise the error wraps [ErrNoMatch]. A match that began in a state of another one is taken as if it had begun itself.
func (s *Server) Like(id string) (MatchSpec, error) {
	how, ok := s.registry.makingOf(id)
	if !ok {
		return MatchSpec{}, fmt.Errorf("%w: got %.64q", ErrNoMatch, id)
	}
	var text bytes.Buffer
	if err := how.game.ConfigSchema().DumpJSON(&text, how.header.Config); err != nil {
		return MatchSpec{}, err
	}
	config, err := how.game.ReadConfig(text.Bytes(), nil)
	if err != nil {
		return MatchSpec{}, err
	}
	spec := MatchSpec{Game: how.game, Settings: how.header.Settings, Config: config, BotKind: how.kind}
	spec.Settings.Relay = false // Host says so
	if how.again != nil {
		how.again(&spec)
	}
	return spec, nil
}

// Operators returns h for requests with the token of an admin, at the address of [Server.Private], and from this machine, for what
// is no call of an admin, such as metrics. While a match hides something, clients on this machine need the token, too: the metrics count what
// all players do; in a server with one match these are its commands. h is behind [Server.Guard].
func (s *Server) Operators(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if private.of(r) || s.access.mayScrape(w, r) {
			h.ServeHTTP(w, r)
		}
	})
}

// Resume continues the match of a replay that a crash left open, after the last tick in the file and under the name that
// the file has. Players return with their tokens, which must name their seats. The settings and the configuration are
// those of the file; Resume uses only Game, Host and OnStart of the spec. It simulates the end of the match, from the last
// keyframe but one, writes the whole match to a new file, and replaces the old file by the new one. If the end does not
// agree with the log, it simulates the whole match. Otherwise it compares the beginning in the background.
//
// A match that its rules have ended in the last tick of the file gets its end record if that is missing, and lingers as
// if it had ended now. With Options.KeepOpen that is only so without the end record, because the file of a match that is
// over looks as after a crash that followed it.
func (s *Server) Resume(path string, spec MatchSpec) (*Match, error) {
	x, err := s.recoverer.claim(path, spec)
	if err != nil {
		return nil, err
	}
	s.denier.awaitBans(x)
	if err := s.recoverer.attempt(x); err != nil {
		return nil, err
	}
	return x.match, nil
}

// MemoryBound returns the most bytes that live objects and stacks of the server take with its present matches and the
// present size of their states. With the default settings of Go's garbage collector the process may use twice as many.
func (s *Server) MemoryBound() int {
	sum := serverMemory + s.gates.memory()
	for _, m := range s.registry.running() {
		sum += int(m.memoryBound.Load())
	}
	return sum
}

// Create starts a match. Its clock runs at once. It draws a seed if that of the settings is 0. A match that begins in the
// state of another one waits for as many players as that had, up to Options.AwaitPlayers. After an error there is no match
// and no file of it.
func (s *Server) Create(spec MatchSpec) (*Match, error) {
	if !matchName.MatchString(spec.Name) {
		return nil, fmt.Errorf("%w: got %q", ErrName, spec.Name)
	}
	spec.settle()
	m := s.newMatch(spec)
	phase, err := s.registry.reserve(spec.Name, spec.Settings)
	if err == nil {
		err = s.start(m, phase, m.begin, m.discard)
	}
	if err != nil {
		return nil, err
	}
	words := []any{"game", spec.Game.Name(), "seed", spec.Settings.Seed}
	if spec.From != nil {
		words = append(words, "parent", spec.From.Lineage.Name, "parent_id", spec.From.Lineage.Match, "tick", uint32(spec.From.Lineage.Tick))
	}
	m.logger.Info("match created", words...)
	people := int(spec.Settings.Players) - spec.bots()
	if t, ok := s.options.Authorizer.(*Tokens); ok && !spec.Invite && t.Players() < people { // nobody can take a seat before there are more
		m.logger.Warn("fewer tokens than seats", "tokens", t.Players(), "seats", people)
	}
	m.spec.started(m)
	return m, nil
}

// Contain calls f and turns a panic of it into an error. log gets the stack, and samestep_panics_total counts it.
func (s *Server) Contain(log *slog.Logger, f func() error) error { return contain(s.metrics, log, f) }

package server

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server/internal/bundles"
	"github.com/seed-49bee653/samestep/server/internal/owners"
)

// Create starts a match. Its clock runs at once. It draws a seed if that of the settings is 0. A match that begins in the
// state of another one waits for as many players as that had, up to Options.AwaitPlayers. After an error there is no match
// and no file of it.
func (s *Server) Create(spec MatchSpec) (*Match, error) {
	if !matchName.MatchString(spec.Name) {
		return nil, fmt.Errorf("%w: got %q", ErrName, spec.Name)
	}
	spec.settle()
	m := s.newMatch(spec)
	if err := s.launch(m, m.begin, m.discard); err != nil {
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

func (s *Server) newMatch(spec MatchSpec) *Match {
	game := spec.Game
	spec.Game = s.assets.before(game)
	return &Match{
		server: &s.services, spec: spec, game: game, inbox: make(chan input, inboxSize), done: make(chan struct{}),
		logger: logged.Match(s.log, spec.Name, ""), conns: make(map[host.PeerID]*conn), owners: owners.New(), stacks: make(map[lockstep.Player]bool),
	}
}

// launch reserves the match's name, calls prepare, and starts the match's goroutine. If the server shuts down meanwhile,
// it calls undo and returns [ErrShutdown]. Shutdown waits until launch returns.
func (s *Server) launch(m *Match, prepare func(phase time.Duration) error, undo func()) error {
	phase, err := s.registry.reserve(m.spec.Name, m.spec.Settings)
	if err != nil {
		return err
	}
	return s.start(m, phase, prepare, undo)
}

// start is launch with a name that is reserved.
func (s *Server) start(m *Match, phase time.Duration, prepare func(phase time.Duration) error, undo func()) error {
	defer s.registry.launching.Done()
	running := false
	defer func() { // also when the game panics
		if !running {
			s.forget(m)
		}
	}()
	if s.registry.isClosed() {
		return ErrShutdown
	}
	if err := prepare(phase); err != nil {
		return err
	}
	s.metrics.desyncs.of(m.spec.Game.Build())
	m.publish()
	if running = s.registry.run(m); !running {
		undo()
		return ErrShutdown
	}
	return nil
}

// know notes the header of the match, whose path is known. From then on the log has its id.
func (m *Match) know(h *lockstep.Header) {
	s := m.server
	m.header, m.logger = h, logged.Match(s.log, m.spec.Name, h.Match.String())
	m.bundles = bundles.New(bundles.Options{
		Log: &m.log, Path: m.path, Prefix: trimExt(s.replays.archived(m.path)), Most: s.options.MaxBundles, Logger: m.logger, Panics: s.metrics.panics, Told: s.options.OnBundle,
	})
}

// started calls OnStart.
func (spec *MatchSpec) started(m *Match) {
	if spec.OnStart != nil {
		spec.OnStart(m)
	}
}

// begin creates the host and its replay.
func (m *Match) begin(phase time.Duration) error {
	var id lockstep.MatchID
	rand.Read(id[:])
	h, err := m.spec.header(id)
	if err != nil {
		return err
	}
	if dir := m.server.options.Dir; dir != "" {
		m.path = filepath.Join(dir, liveFolder, fmt.Sprintf("%s-%s.ssr", m.spec.Name, id.String()[:8]))
	}
	m.know(h)
	if m.assets, err = m.server.assets.holdAll(m.spec.Name, m.spec.Game, h); err != nil {
		return err
	}
	if err := m.openReplicated(h); err != nil {
		return err
	}
	if m.path != "" {
		m.server.replays.setLive(filepath.Base(m.path), true) // before the file exists
		if err := m.openLog(m.path); err != nil {
			m.discard()
			return err
		}
	}
	m.epoch = time.Now().Add(-phase)
	if m.host, err = m.newHost(h); err == nil {
		m.hold() // before the next tick
		_, concluded := m.host.Result()
		m.process()
		m.rememberDisclosure()
		m.rememberRules()
		if m.spec.Recorded != "" {
			m.log.Remember(lockstep.System, record.EventOptions, m.spec.Recorded)
		}
		if m.spec.Invite {
			m.invitations, m.invited = m.spec.invite(), make(map[string]lockstep.Player)
			for _, i := range m.invitations { // the server that resumes the match needs them
				m.invited[invitationHash(i.Token)] = i.Seat
				m.log.Remember(i.Seat, record.EventInvitation, invitationHash(i.Token))
			}
		}
		if !concluded {
			err = m.host.Err()
		}
	}
	if err == nil && m.log.Recorded() {
		err = m.log.WriteBehind() // flushes, because a log without its header cannot be resumed
	}
	if err != nil && m.log.Recorded() && m.log.Err() != nil {
		m.server.metrics.failures.Inc()
		err = storageFailed(m.log.Err())
	}
	if err == nil {
		err = m.checkGuestState()
	}
	if err == nil { // the caller may tell of the match, and give tokens for it
		err = storageFailed(m.log.Stored())
	}
	if err != nil {
		m.discard()
	}
	return err
}

// discard removes the logs of a match that could not start.
func (m *Match) discard() {
	m.log.Abandon(m.path)
	if m.path != "" {
		m.server.replays.setLive(filepath.Base(m.path), false)
	}
	m.log.Drop()
}

// hostOptions returns the match's options, with the server's functions and defaults.
func (m *Match) hostOptions() host.Options {
	o := m.server.options.Host
	if m.spec.Host != nil {
		o = *m.spec.Host
	}
	if m.limits = m.server.gates.limits.Load().MatchLimits; m.limits != nil {
		m.limits.SetIn(&o)
	}
	o.Authorize = func(token string) (host.Grant, error) {
		g, err := m.server.access.authorize(token, m.spec.Name)
		m.owners.Authorized(g, err)
		return g, err
	}
	if m.spec.Bots != nil {
		o.Bots = m.spec.Bots
	}
	if m.spec.Substitute != nil {
		o.Substitute = m.spec.Substitute
	}
	o.MaxConnecting = cmp.Or(o.MaxConnecting, 64)
	o.MaxSpectators = cmp.Or(o.MaxSpectators, defaultSpectators)
	o.EvidenceHistory = cmp.Or(o.EvidenceHistory, 8)
	m.maxConnecting, m.maxSpectators, m.history = o.MaxConnecting, o.MaxSpectators, o.EvidenceHistory
	watch := time.AfterFunc(hungTime, m.hang)
	watch.Stop()
	o.Stepping = func(begins bool) {
		if m.load.step(begins, m.now()); begins {
			if m.host != nil {
				m.sealed.Store(uint32(m.host.Now()))
			}
			watch.Reset(hungTime)
		} else {
			watch.Stop()
		}
	}
	if f := m.server.options.Observer; f != nil {
		o.Observer = func(t lockstep.Tick, event any) { f(m, t, event) }
	}
	o.Random = func(b []byte) { rand.Read(b) }
	o.Evidence = true
	return o
}

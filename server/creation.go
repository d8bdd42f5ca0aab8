package server

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"os"
	"time"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
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
	m.warnFewTokens()
	m.notifyStart()
	return m, nil
}

// warnFewTokens warns of seats that nobody can take before the list of tokens has more of them.
func (m *Match) warnFewTokens() {
	people := int(m.spec.Settings.Players) - m.spec.bots()
	if t, ok := m.server.options.Authorizer.(*Tokens); ok && !m.spec.Invite && t.Players() < people {
		m.logger.Warn("fewer tokens than seats", "tokens", t.Players(), "seats", people)
	}
}

func (s *Server) newMatch(spec MatchSpec) *Match {
	game := spec.Game
	spec.Game = s.assets.before(game)
	return &Match{
		server: s, spec: spec, game: game, inbox: make(chan input, inboxSize), done: make(chan struct{}),
		logger: logged.Match(s.log, spec.Name, ""), sessions: make(map[lockstep.Player]string),
		conns: make(map[host.PeerID]*conn), bundles: make(map[lockstep.Player]int), drafts: make(map[reported]*draft), owners: make(map[lockstep.Player]*host.Grant), claims: make(map[lockstep.Player]string),
		stacks: make(map[lockstep.Player]bool),
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

// know notes the header of the match. From then on the log has its id.
func (m *Match) know(h *lockstep.Header) {
	m.header, m.logger = h, logged.Match(m.server.log, m.spec.Name, h.Match.String())
}

// notifyStart calls MatchSpec.OnStart.
func (m *Match) notifyStart() {
	if m.spec.OnStart != nil {
		m.spec.OnStart(m)
	}
}

// begin creates the host and its replay.
func (m *Match) begin(phase time.Duration) error {
	var id lockstep.MatchID
	rand.Read(id[:])
	h, err := m.newHeader(id)
	if err != nil {
		return err
	}
	m.know(h)
	if err := m.holdAssets(h); err != nil {
		return err
	}
	if err := m.openReplicated(h); err != nil {
		return err
	}
	if dir := m.server.options.Dir; dir != "" {
		if err := m.openReplay(dir, id); err != nil {
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
			m.remember(lockstep.System, record.EventOptions, m.spec.Recorded)
		}
		if m.spec.Invite {
			m.invite()
		}
		if !concluded {
			err = m.host.Err()
		}
	}
	if err == nil && m.writer != nil {
		err = m.writer.WriteBehind() // flushes, because a log without its header cannot be resumed
	}
	if err != nil && m.writer != nil && m.writer.Err() != nil {
		m.server.metrics.failures.Inc()
		err = storageFailed(m.writer.Err())
	}
	if err == nil {
		err = m.checkGuestState()
	}
	if err == nil && m.replicated != nil { // the caller may tell of the match, and give tokens for it
		err = storageFailed(m.replicated.Flush())
	}
	if err != nil {
		m.discard()
	}
	return err
}

// discard removes the logs of a match that could not start.
func (m *Match) discard() {
	m.abandon(m.path)
	if m.replicated != nil {
		m.replicated.Drop()
	}
}

// abandon removes the replay of a match that could not start.
func (m *Match) abandon(path string) {
	if m.writer == nil {
		return
	}
	m.closeReplay() // an error does not matter for a removed file
	os.Remove(path)
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
		if m.granted = &g; err != nil {
			m.granted = nil
		}
		m.refusal = err
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

package server

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed-49bee653/samestep/internal/deflate"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server/internal/bundles"
	"github.com/seed-49bee653/samestep/server/internal/owners"
)

func (s *services) newMatch(spec MatchSpec) *Match {
	game := spec.Game
	spec.Game = s.assets.before(game)
	return &Match{
		server: s, spec: spec, game: game, inbox: make(chan input, inboxSize), done: make(chan struct{}),
		logger: logged.Match(s.log, spec.Name, ""), conns: make(map[host.PeerID]*conn), owners: owners.New(), stacks: make(map[lockstep.Player]bool),
	}
}

// start calls prepare, and starts the goroutine of a match whose name is reserved. If the server shuts down meanwhile, it calls undo and
// returns [ErrShutdown]. Shutdown waits until start returns.
func (s *services) start(m *Match, phase time.Duration, prepare func(phase time.Duration) error, undo func()) error {
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
	if err == nil && m.spec.guest != nil {
		m.updateGuestUsage()
		err = m.server.guests.Check(m.server.gates.limits.Load().GuestStateBytes)
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

// began is a time from which clocks of a match count.
var began = time.Now()

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
	o.Pack = deflate.Pack
	o.MaxConnecting = cmp.Or(o.MaxConnecting, 64)
	o.MaxSpectators = cmp.Or(o.MaxSpectators, defaultSpectators)
	o.EvidenceHistory = cmp.Or(o.EvidenceHistory, 8)
	m.maxConnecting, m.maxSpectators, m.history = o.MaxConnecting, o.MaxSpectators, o.EvidenceHistory
	watch := time.AfterFunc(hungTime, m.hang)
	watch.Stop()
	o.Stepping = func(t *lockstep.Turn, phase string, over bool) {
		switch begins := m.load.step(t, phase, over, m.now()); {
		case begins:
			if m.host != nil {
				m.sealed.Store(uint32(m.host.Now()))
			}
			watch.Reset(hungTime)
		case over:
			watch.Stop()
			m.server.metrics.steps.Observe(float64(m.load.took) / float64(lockstep.Second))
		}
	}
	o.Heavy.Percent = cmp.Or(o.Heavy.Percent, m.server.options.Heavy)
	m.heavy = o.Heavy.Percent > 0
	o.Heavy.Busy = func(begins bool) {
		if watch.Stop(); begins {
			watch.Reset(hungTime)
		}
	}
	o.Heavy.Clock = func() int64 { return int64(time.Since(began)) }
	if f := m.server.options.Observer; f != nil {
		o.Observer = func(t lockstep.Tick, event any) { f(m, t, event) }
	}
	o.Random = func(b []byte) { rand.Read(b) }
	o.Evidence = true
	return o
}

// settle completes the settings of a new match: it takes those of the match in whose state it begins, or draws a seed.
func (spec *MatchSpec) settle() {
	if spec.From != nil {
		if spec.Settings == (lockstep.Settings{}) {
			spec.Settings = spec.From.Header.Settings
		}
		spec.Settings.Relay = false // its host decides that
		return
	}
	for spec.Settings.Seed == 0 {
		var b [8]byte
		rand.Read(b[:])
		spec.Settings.Seed = binary.LittleEndian.Uint64(b[:])
	}
}

// header returns the header of a match.
func (spec *MatchSpec) header(id lockstep.MatchID) (*lockstep.Header, error) {
	from := spec.From
	if from == nil || spec.Config != nil {
		return spec.Game.NewHeader(id, spec.Settings, spec.Config)
	}
	h := *from.Header
	h.Match, h.Settings, h.Platform = id, spec.Settings, lockstep.Platform()
	h.Sources = spec.Game.Sources().TextAfter(h.Platform)
	return &h, spec.Game.CheckIdentity(&h)
}

// newHost returns the host of a match that begins: at tick 0, or in the state of another match.
func (m *Match) newHost(h *lockstep.Header) (*host.Host, error) {
	from := m.spec.From
	if from == nil {
		if m.spec.Players != nil {
			return nil, errors.New("server: got players with seats, want them only for a match that begins in the state of another one")
		}
		return host.New(m.spec.Game, h, m.hostOptions())
	}
	x, err := from.Recovery.Begin(m.now(), h, host.Origin{Lineage: from.Lineage, Players: m.spec.Players}, m.hostOptions())
	if err != nil {
		return nil, err
	}
	m.holds.Await(m.now() + lockstep.Time(m.server.options.AwaitPlayers.Microseconds()))
	return x, nil
}

// Invitations returns the invitations that the match was created with, see MatchSpec.Invite. After a [Server.Resume] they
// are still valid, but nobody knows them except those who have got them.
func (m *Match) Invitations() []Invitation { return m.invitations }

// invite draws an invitation to each seat that no bot has, and that is not reserved for a player.
func (spec *MatchSpec) invite() (all []Invitation) {
	for seat := range lockstep.Player(spec.Settings.Players) {
		if int(seat) < len(spec.Bots) && spec.Bots[seat] != nil || int(seat) < len(spec.Players) && spec.Players[seat] != "" {
			continue
		}
		var b [16]byte
		rand.Read(b[:])
		all = append(all, Invitation{seat, hex.EncodeToString(b[:])})
	}
	return all
}

// bots returns the number of bots of a match.
func (m *MatchSpec) bots() (n int) {
	for _, b := range m.Bots {
		if b != nil {
			n++
		}
	}
	return n
}

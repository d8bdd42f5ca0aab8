package server

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/server/internal/bundles"
	"github.com/seed-49bee653/samestep/server/internal/crowd"
)

// observe logs and counts an event of the match.
func (m *Match) observe(e host.Event) {
	if c := m.conns[e.Peer]; c != nil {
		c.timeSync(e.Kind)
		switch {
		case e.Kind == host.PeerJoined || e.Kind == host.PeerResumed:
			subject, claim := m.owners.Welcome(m.header.Match, e.Player, c.session)
			c.welcomed(e.Player, subject)
			if claim != "" {
				m.log.Remember(e.Player, record.EventClaim, claim)
			}
			m.connecting = crowd.Without(m.connecting, c)
		case e.Kind == host.PeerRefused && e.Code == protocol.CloseRefused && e.Text == "refused": // for its token, not for lack of room
			m.server.access.countGuess(c.addr, c.remote)
		}
	}
	about := subject(e.Kind)
	m.server.metrics.events.WithLabelValues(about, e.Kind.String()).Inc()
	words := []any{"tick", uint32(e.Tick), "subject", about, "event", e.Kind.String(), "peer", uint64(e.Peer), "player", logged.Seat(e.Player), "number", e.Number, "text", e.Text}
	words = append(words, m.identify(&e)...)
	if e.Result != "" {
		words = append(words, "result", e.Result)
	}
	if e.Stack != "" && !m.stacks[e.Player] { // once, because a player can come and go, and panic again
		m.stacks[e.Player] = true
		words = append(words, "stack", e.Stack)
	}
	session, level := m.owners.Session(e.Player), slog.LevelInfo
	if c := m.conns[e.Peer]; c != nil {
		session = c.session
	}
	if slices.Contains([]host.EventKind{host.MatchHeld, host.RefereeHealed, host.BotFailed, host.SubstituteFailed, host.PeerPanicked, host.WarmColdDiffer}, e.Kind) {
		level = slog.LevelWarn
	}
	logged.Session(m.logger, session).Log(context.Background(), level, "match", words...)
}

// identify returns words for the log about the connection of an event: its address, whose it is, and why its token was
// refused.
func (m *Match) identify(e *host.Event) (words []any) {
	c := m.conns[e.Peer]
	if c == nil {
		return nil
	}
	words = append(words, "address", c.remote)
	if c.subject != "" {
		words = append(words, "identity", c.subject)
	}
	if e.Kind == host.PeerDesynced {
		for _, i := range m.host.Info().Peers() {
			if i.ID == e.Peer {
				words = append(words, machineOf(c, i.Build, i.Platform)...)
			}
		}
	}
	if e.Kind == host.PeerRefused && e.Code == protocol.CloseRefused && e.Text == "refused" {
		why := m.owners.Refusal()
		if why == nil {
			why = errNoToken
		}
		words = append(words, "why", refusalText(why))
	}
	return words
}

// machineOf returns words for the log about what computes the match behind a connection, which may be nil, as its client describes it.
func machineOf(c *conn, build, platform string) []any {
	words := []any{"build", build, "platform", platform}
	if c == nil {
		return words
	}
	transport := "websocket"
	if c.path != nil {
		transport = "websocket and datagrams"
	}
	return append(words, "transport", transport, "client", c.agent)
}

// timeSync measures how long a connection takes from a keyframe to the present.
func (c *conn) timeSync(kind host.EventKind) {
	switch kind {
	case host.PeerSynced:
		c.syncing = time.Now()
	case host.PeerLive:
		if !c.syncing.IsZero() {
			c.match.server.metrics.syncs.Observe(time.Since(c.syncing).Seconds())
			c.syncing = time.Time{}
		}
	}
}

// evidence writes a desync's bundle, or replaces the one that was written early.
func (m *Match) evidence(e *host.Evidence) {
	if e.Panic == nil && e.Twin == nil && !m.bundles.Known(e) {
		m.desynced(e)
	}
	if a := e.Resimulation; a != nil && e.Panic == nil {
		logged.Session(m.logger, m.owners.Session(e.Report.Player)).Warn("computed again", "tick", e.Report.Tick, "player", logged.Seat(e.Report.Player), "outcome", a.Outcome.String(), "first", a.First)
	}
	m.bundles.Write(m.caseOf(e))
}

// desynced counts and logs a desync.
func (m *Match) desynced(e *host.Evidence) {
	m.server.metrics.desyncs.of(m.spec.Game.Build()).Inc()
	about := slices.DeleteFunc(slices.Clone(e.Participants), func(p host.Participant) bool { return p.Player != e.Report.Player && !e.Report.Tie })
	if len(about) == 0 { // the player has left
		logged.Session(m.logger, m.owners.Session(e.Report.Player)).Warn("desync", "report", e.Report.String(), "player", logged.Seat(e.Report.Player))
	}
	for _, p := range about { // of a tie, a line about each player
		var of *conn
		for _, c := range m.conns {
			if c.seat == p.Player {
				of = c
			}
		}
		words := []any{"report", e.Report.String(), "player", logged.Seat(p.Player)}
		logged.Session(m.logger, m.owners.Session(p.Player)).Warn("desync", append(words, machineOf(of, p.Build, p.Platform)...)...)
	}
}

// caseOf returns evidence with what another machine needs to simulate the match: its assets, and the module of its rules.
func (m *Match) caseOf(e *host.Evidence) *bundles.Case {
	x := &bundles.Case{Evidence: e, Header: m.header, MaxBytes: m.maxReplay()}
	for _, a := range m.assets {
		x.Contents = append(x.Contents, m.server.assets.find(a.SHA256))
	}
	if module := m.server.options.ModuleOf; module != nil {
		if b := module(m.spec.Game); b != nil {
			x.Contents = append(x.Contents, b)
		}
	}
	return x
}

// process does what the host wants done, except that it feeds no connection. It is called after each method of the
// host.
func (m *Match) process() {
	for {
		r := m.host.Ready()
		if m.next = r.Next; r.Empty() {
			m.keepBans()
			return
		}
		m.record(r)
		for _, e := range r.Events {
			m.observe(e)
		}
		for _, e := range r.Early {
			m.desynced(e)
			m.bundles.Early(m.caseOf(e))
		}
		for _, e := range r.Evidence {
			m.evidence(e)
		}
		for _, id := range r.Peers {
			if c := m.conns[id]; c != nil && !c.due {
				c.due = true
				m.due = append(m.due, c)
			}
		}
	}
}

// feed moves the host's messages to their connections.
func (m *Match) feed() {
	for m.process(); len(m.due) > 0; m.process() {
		m.due, m.fed = m.fed[:0], m.due
		for _, c := range m.fed {
			c.due = false
			c.feed()
		}
		clear(m.fed)
	}
}

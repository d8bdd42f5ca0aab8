package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
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
	words := []any{"tick", uint32(e.Tick), "subject", about, "event", e.Kind.String(), "peer", uint64(e.Peer), "player", int(e.Player), "number", e.Number, "text", e.Text}
	words = append(words, m.identify(&e)...)
	if e.Result != "" {
		words = append(words, "result", e.Result)
	}
	if e.Stack != "" && !m.stacks[e.Player] { // once, because a player can come and go, and panic again
		m.stacks[e.Player] = true
		words = append(words, "stack", e.Stack)
	}
	session := m.owners.Session(e.Player)
	if c := m.conns[e.Peer]; c != nil {
		session = c.session
	}
	logged.Session(m.logger, session).Log(context.Background(), level(&e), "match", words...)
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

// level returns the level of an event's line in the log.
func level(e *host.Event) slog.Level {
	switch {
	case e.Kind == host.MatchHeld, e.Kind == host.RefereeHealed, e.Kind == host.BotFailed, e.Kind == host.SubstituteFailed, e.Kind == host.PeerPanicked:
		return slog.LevelWarn
	}
	return slog.LevelInfo
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

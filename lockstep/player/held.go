package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/outbox"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/quiet"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// LinkStalled is the Reason of a [Held] that the client finds by itself, at the latest a second after the last message of
// the server, or later in a match whose ticks are longer.
const LinkStalled = "nothing comes from the server"

// InLobby reports whether the match has not begun: it waits for players, or for them to be ready, or counts down.
func (h Held) InLobby() bool {
	return h.Reason == protocol.LobbyPlayers || h.Reason == protocol.LobbyReady || h.Reason == protocol.LobbyBegins
}

// heldOf returns the server's word that the match stands, or goes on, which comes now on the clock of the client's owner.
func heldOf(m *protocol.Message, now lockstep.Time) Held {
	h := Held{Reason: m.Text}
	if m.Text != "" {
		h.Since = now - lockstep.Time(m.SinceMS)*lockstep.Millisecond
		for _, seat := range m.Seats {
			h.Players = append(h.Players, lockstep.Player(seat))
		}
		if m.UntilMS > 0 {
			h.Until = now + lockstep.Time(m.UntilMS)*lockstep.Millisecond
		}
	}
	return h
}

// Held returns why the match stands still or runs slower, as the last event of this type said. That of a silent server ends at the
// latest when the client hangs up.
func (c *Client) Held() Held {
	if !c.line.Stalled() {
		return c.held
	}
	silent := c.clock - c.line.Last()
	return Held{Reason: LinkStalled, Since: c.now - silent, Until: c.now + max(0, c.line.SilentAt()-c.clock)}
}

// patience returns for how long the server may send nothing until a user is told.
func (c *Client) patience() lockstep.Time {
	paused, resumes := c.in.Paused()
	switch {
	case c.look != nil && c.link.State() == dialing.Up: // a server sends something at least every ackEvery ticks
		return max(quiet.Time, 2*c.look.Period()*lockstep.Time(c.ackEvery))
	case c.link.State() != dialing.Up || c.run.Follower() == nil:
		return lockstep.Time(1 << 60)
	case c.held.Reason != "" || paused && !resumes || c.in.From() == 0: // answers to pings come, at least
		return c.options.PingEvery + quiet.Time
	}
	return max(quiet.Time, 3*c.pace.Arrival())
}

// SetReady says whether the player is ready to begin. It matters in the lobby of a match, where everybody sees it in
// [Seat]; the client says it again after a reconnect. Spectators are not asked.
func (c *Client) SetReady(ready bool) {
	if c.wantReady != ready {
		c.wantReady = ready
		c.out.Want(outbox.Ready)
	}
}

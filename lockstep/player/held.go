package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// LinkStalled is the Reason of a [Held] that the client finds by itself, at the latest a second after the last message of
// the server, or later in a match whose ticks are longer.
const LinkStalled = "nothing comes from the server"

// InLobby reports whether the match has not begun: it waits for players, or for them to be ready, or counts down.
func (h Held) InLobby() bool {
	return h.Reason == protocol.LobbyPlayers || h.Reason == protocol.LobbyReady || h.Reason == protocol.LobbyBegins
}

const (
	stallTime = 3 * lockstep.Second / 4
	stallGap  = 5 * lockstep.Second / 4 // a client that was not called for longer cannot blame the server, see Ready.Next
)

// takeHeld takes the server's word that the match stands, or goes on.
func (c *Client) takeHeld(m *protocol.Message) {
	h := Held{Reason: m.Text}
	if m.Text != "" {
		h.Since = c.now - lockstep.Time(m.SinceMS)*lockstep.Millisecond
		for _, seat := range m.Seats {
			h.Players = append(h.Players, lockstep.Player(seat))
		}
		if m.UntilMS > 0 {
			h.Until = c.now + lockstep.Time(m.UntilMS)*lockstep.Millisecond
		}
	}
	c.held, c.in.resumes = h, m.Text == ""
	c.tell(h)
}

// Held returns why the match stands still or runs slower, as the last event of this type said.
func (c *Client) Held() Held {
	if c.stalled {
		return c.stall()
	}
	return c.held
}

// stall returns the Held of a silent server. It ends at the latest when the client hangs up.
func (c *Client) stall() Held {
	silent := c.clock - c.lastHeard()
	return Held{Reason: LinkStalled, Since: c.now - silent, Until: c.now + max(0, c.silentAt()-c.clock)}
}

// silentAt returns when the client hangs up because nothing comes. While datagrams come, the stream has three times as long: it may
// only wait for lost packets.
func (c *Client) silentAt() lockstep.Time {
	return min(c.lastHeard(), c.heard+2*c.options.Silence) + c.options.Silence
}

// lastHeard returns when something came last, by the stream or by a datagram.
func (c *Client) lastHeard() lockstep.Time { return max(c.heard, c.datagrams.Heard()) }

// hear notes that a message has come.
func (c *Client) hear() {
	c.heard = c.clock
	c.notQuiet()
}

// notQuiet notes that something has come, by the stream or by a datagram.
func (c *Client) notQuiet() {
	c.quiet = c.clock
	if c.stalled {
		c.stalled = false
		c.tell(c.held)
	}
}

// stallAt returns when the client notices that nothing comes.
func (c *Client) stallAt() lockstep.Time {
	switch {
	case c.look != nil && !c.stalled && c.link == linkUp: // a server sends something at least every ackEvery ticks
		return c.quiet + max(stallTime, 2*c.look.period*lockstep.Time(c.ackEvery))
	case c.stalled || c.link != linkUp || c.run.follower == nil:
		return c.silentAt()
	case c.held.Reason != "" || c.in.paused && !c.in.resumes || c.in.from() == 0: // answers to pings come, at least
		return c.quiet + c.options.PingEvery + stallTime
	}
	return c.quiet + max(stallTime, 3*c.pace.duration(1, c.pace.arriving))
}

// noticeStall tells that nothing comes, unless it was the client who was not called.
func (c *Client) noticeStall() {
	if c.stalled || c.over || c.clock < c.stallAt() || c.clock >= c.silentAt() {
		return
	}
	if c.gap > stallGap {
		c.quiet = c.clock // what has come meanwhile is not read yet
		return
	}
	c.stalled = true
	c.tell(c.stall())
}

// SetReady says whether the player is ready to begin. It matters in the lobby of a match, where everybody sees it in
// [Seat]; the client says it again after a reconnect. Spectators are not asked.
func (c *Client) SetReady(ready bool) {
	if c.wantReady != ready {
		c.wantReady, c.out.ready = ready, true
	}
}

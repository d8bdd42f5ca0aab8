package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// SessionToken returns the secret with which the server knows whose datagrams arrive, and false while the client has none.
func (c *Client) SessionToken() (protocol.SessionToken, bool) {
	return c.session, c.link == linkUp && c.look == nil && c.session != protocol.SessionToken{}
}

// Shown returns the subprotocols that the next WebSocket should offer besides the server's own one, see [protocol.Shown].
func (c *Client) Shown() []string { return protocol.Shown(c.options.Token, c.session) }

// SendDatagram appends the next datagram for the server, or nothing. The caller sends each, before it calls Send: commands that
// datagrams carry wait for the stream. A caller without a path of datagrams never calls it.
func (c *Client) SendDatagram(dst []byte) []byte {
	if c.link != linkUp || c.look != nil {
		return dst
	}
	if c.datagrams == nil {
		c.datagrams = &datagramState{from: c.in.position}
	}
	if c.clock < c.datagramDue() {
		return dst
	}
	g := c.datagrams
	var ok bool
	if g.out.Head, ok = g.path.Next(c.clock); !ok {
		return dst
	}
	g.out.Position, g.out.Above, g.out.Tick = c.in.from(), 0, 0
	if g.out.Position > 0 {
		g.out.Tick = c.Tick()
		for i := range protocol.Position(datagram.Window - 1) {
			if g.held > 0 && len(g.ahead[(c.in.position+1+i)%datagram.Window]) > 0 {
				g.out.Above |= 1 << i
			}
		}
	}
	n := c.own.inDatagram()
	g.out.Commands = g.out.Commands[:0]
	for i := range c.own.list[:n] {
		if s := &c.own.list[i]; !s.answered {
			s.sentIn++
			g.out.Commands = append(g.out.Commands, datagram.Command{Sequence: s.sequence, Kind: s.kind, Payload: s.payload})
		}
	}
	before := len(dst)
	dst = g.writer.ToHost(dst, &g.out)
	g.news, g.ackBy, g.sentAt = 0, 0, max(c.clock, 1)
	c.measure.bytesOut += uint64(len(dst) - before)
	return dst
}

// datagramDue returns when the next datagram is due.
func (c *Client) datagramDue() lockstep.Time {
	g := c.datagrams
	at := g.sentAt + probeTime
	every, _ := g.path.AckEvery()
	switch {
	case g.sentAt == 0:
		return 0
	case !g.path.Alive(c.clock) && g.ackBy == 0:
		return at
	case g.news >= every:
		at = g.sentAt + ackTime
	case g.ackBy > 0:
		at = min(at, max(g.sentAt+ackTime, g.ackBy))
	}
	size := 0
	for i := range c.own.list[:c.own.inDatagram()] {
		s := &c.own.list[i]
		if s.answered {
			continue
		}
		if s.sentIn == 0 {
			return g.sentAt // at once
		}
		wait := g.path.Overdue(false)
		if size += len(s.payload) + datagram.CommandSize; size <= fewBytes && s.sentIn <= g.path.Resends() {
			wait = datagram.ResendAfter
		}
		at = min(at, g.sentAt+wait)
	}
	return at
}

// unheld returns how many of the commands wait for the stream no longer: the first ones.
func (c *Client) unheld() int {
	n := len(c.own.list)
	if g := c.datagrams; g == nil || c.link != linkUp || !g.path.Flows(c.clock, c.measure.roundTrip) {
		return n
	}
	if c.own.inDatagram() < n {
		return n
	}
	for ; n > 0; n-- {
		if s := &c.own.list[n-1]; !s.answered && !s.sent && (s.sentIn == 0 || c.clock >= s.at+holdTime) {
			break
		}
	}
	return n
}

// datagramsAt returns when time alone makes something to send: a datagram, or what waits for the stream. The owner sends what is due
// already.
func (c *Client) datagramsAt() lockstep.Time {
	if c.datagrams == nil {
		return c.clock + lockstep.Second
	}
	at := c.unheldAt()
	if due := c.datagramDue(); due > c.clock {
		at = min(at, due)
	}
	return at
}

// unheldAt returns when a command that waits for the stream is sent by it.
func (c *Client) unheldAt() lockstep.Time {
	for i := range c.own.list {
		if s := &c.own.list[i]; !s.sent && !s.answered {
			if at := min(s.at+holdTime, c.datagrams.path.FlowsTo()+1); at > c.clock {
				return at
			}
		}
	}
	return c.clock + lockstep.Second
}

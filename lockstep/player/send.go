package player

import (
	"slices"

	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/outbox"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Send appends the next message of the connection, and nothing if there is none. The returned bytes count as sent.
func (c *Client) Send(dst []byte) []byte {
	n, m := len(dst), &c.message // scratch
	switch {
	case c.link.State() == dialing.Greeting && c.out.Take(outbox.Auth):
		var a *protocol.Auth
		if c.look != nil {
			a = protocol.NewViewerAuth(c.game)
		} else {
			a = protocol.NewAuth(c.game)
			a.Capabilities, a.Position = []string{protocol.Resimulate}, c.in.From()
		}
		a.Token, a.Session = c.options.Token, c.session
		dst = c.out.Append(dst, &protocol.Message{Kind: protocol.KindAuth, Auth: a})
	case c.link.State() == dialing.Closing && c.out.Panicked():
		dst = c.out.Last(dst, false)
	case c.link.State() == dialing.Up, c.link.State() == dialing.Closing && c.out.Wants(outbox.Leave):
		var ping uint64
		if c.out.Wants(outbox.Ping) {
			ping = c.measure.ping(c.clock)
		}
		var other *protocol.Message
		if c.look != nil && c.look.Ack(m) {
			other = m
		}
		dst = c.out.Small(dst, &outbox.Progress{
			Now: c.clock, Tick: c.Tick(), Position: c.in.From(), Full: c.run.Waiting() > c.options.MaxBacklog, Every: c.ackEvery,
		}, ping, c.wantReady, other)
		if f := c.run.Follower(); f != nil && c.in.From() > 0 { // otherwise a state is on its way, perhaps because a crash took the reported ticks back
			dst = c.out.Reports(dst, n, f, c.serverTick)
		}
		pending := c.own.Pending()
		if c.link.State() == dialing.Up {
			pending = c.datagrams.Unheld(c.clock, c.measure.roundTrip, pending)
		}
		dst = c.out.Commands(dst, n, pending)
		for outbox.Room(dst, n, 9*protocol.MaxSections) && c.answers.NextSum(m) {
			dst = c.out.Append(dst, m)
		}
		if outbox.Room(dst, n, protocol.MaxChunk) && c.answers.NextState(m) {
			dst = c.out.Append(dst, m)
		}
		dst = c.out.Last(dst, slices.ContainsFunc(c.own.Pending(), func(s *datagram.Pending) bool { return !s.Streamed }))
	}
	c.measure.bytesOut += uint64(len(dst) - n)
	return dst
}

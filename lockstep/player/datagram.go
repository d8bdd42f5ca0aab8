package player

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// SessionToken returns the secret with which the server knows whose datagrams arrive, and false while the client has none.
func (c *Client) SessionToken() (protocol.SessionToken, bool) {
	return c.session, c.link.State() == dialing.Up && c.look == nil && c.session != protocol.SessionToken{}
}

// Shown returns the subprotocols that the next WebSocket should offer besides the server's own one, see [protocol.Shown].
func (c *Client) Shown() []string { return protocol.Shown(c.options.Token, c.session) }

// SendDatagram appends the next datagram for the server, or nothing. The caller sends each, before it calls Send: commands that
// datagrams carry wait for the stream. A caller without a path of datagrams never calls it.
func (c *Client) SendDatagram(dst []byte) []byte {
	if c.link.State() != dialing.Up || c.look != nil {
		return dst
	}
	if c.datagrams == nil {
		c.datagrams = datagram.NewPlayerEnd(c.in.Position())
	}
	before := len(dst)
	dst = c.datagrams.Send(dst, c.clock, &datagram.Demand{Position: c.in.From(), Tick: c.Tick(), Commands: c.own.Pending()})
	c.measure.bytesOut += uint64(len(dst) - before)
	return dst
}

// ReceiveDatagram takes one datagram of the connection. It may come late, twice, or never. An error says why the client hangs
// up because of it.
func (c *Client) ReceiveDatagram(now lockstep.Time, b []byte) error {
	c.tickClock(now)
	if c.link.State() != dialing.Up || c.datagrams == nil {
		return nil
	}
	c.measure.bytesIn += uint64(len(b))
	before := c.in.Tick()
	err := c.receiveDatagram(b)
	c.measure.came(c.clock, before, &c.in, &c.pace, c.catchingUp)
	if err != nil {
		c.hangUp(err)
	}
	return err
}

func (c *Client) receiveDatagram(b []byte) error {
	d, err := c.datagrams.Receive(c.clock, b)
	if err != nil {
		return err
	}
	if c.line.Datagram(c.clock) {
		c.tell(c.held)
	}
	for _, r := range d.Receipts {
		c.message = protocol.Message{Kind: protocol.KindCommandAccepted, Sequence: r.Sequence, Tick: r.Tick}
		c.answered(&c.message)
	}
	for i := range d.Records {
		if !c.in.Streaming() {
			return nil
		}
		next, err := c.datagrams.Offer(&d.Records[i], c.in.Position())
		if next && err == nil {
			err = c.takeEarly(d.Records[i].Bytes)
		}
		if err != nil {
			c.in.Break() // one of the two is wrong
			return err
		}
	}
	return nil
}

// takeEarly takes the next record before the stream brings it, or nil, and those that have waited for the one before.
func (c *Client) takeEarly(b []byte) error {
	for ; b != nil; b = c.datagrams.Waiting(c.in.Position()) {
		rest, err := c.take(b)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("lockstep: client: %w: %d bytes behind a record in a datagram", record.ErrMalformed, len(rest))
		}
		if err != nil {
			c.in.Break() // it cannot go on
			return err
		}
	}
	return nil
}

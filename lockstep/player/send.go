package player

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// outgoing has the messages that a client has to send. All of it is bounded: repeated messages are merged.
type outgoing struct {
	auth    bool
	pong    bool
	nonce   uint64 // of the pong
	ping    bool
	ready   bool // say whether the player is ready
	sync    bool // ask for a state
	leave   bool
	reason  string // of leaving
	panic   *lockstep.PanicError
	arrived bool          // something, since the last ack
	adopted bool          // a state, since then
	acked   lockstep.Tick // in the last ack
	ackedTo protocol.Position
	ackedAt lockstep.Time
	reports []lockstep.Tick // checked ticks to report
	chat    []string
	writer  protocol.Writer
	message protocol.Message
}

const maxChat = 16 // lines that wait

// begin forgets the messages of the connection before. Reports stay.
func (o *outgoing) begin() {
	*o = outgoing{reports: o.reports, chat: o.chat, acked: o.acked, ackedTo: o.ackedTo, writer: o.writer, message: o.message}
}

// report queues the report of a checked tick.
func (o *outgoing) report(t lockstep.Tick) {
	if len(o.reports) == record.CheckWindow {
		o.reports = o.reports[:copy(o.reports, o.reports[1:])]
	}
	o.reports = append(o.reports, t)
}

// Send appends the next message of the connection, and nothing if there is none. The returned bytes count as sent.
func (c *Client) Send(dst []byte) []byte {
	n := len(dst)
	switch {
	case c.link == linkGreeting && c.out.auth:
		c.out.auth = false
		dst = c.out.writer.Append(dst, &protocol.Message{Kind: protocol.KindAuth, Auth: c.auth()})
	case c.link == linkClosing && c.out.panic != nil:
		p := c.out.panic
		c.out.panic = nil
		c.out.message = protocol.Message{Kind: protocol.KindPanicked, Tick: p.Tick, Field: p.Where, Text: fmt.Sprint(p.Value), Stack: string(p.Stack)}
		dst = c.out.writer.Append(dst, &c.out.message)
	case c.link == linkUp, c.link == linkClosing && c.out.leave:
		dst = c.sendSmall(dst)
		dst = c.sendReports(dst, n)
		dst = c.sendCommands(dst, n)
		for room(dst, n, 9*protocol.MaxSections) && c.answers.NextSum(&c.out.message) {
			dst = c.out.writer.Append(dst, &c.out.message)
		}
		if room(dst, n, protocol.MaxChunk) && c.answers.NextState(&c.out.message) {
			dst = c.out.writer.Append(dst, &c.out.message)
		}
		if c.out.leave && !slices.ContainsFunc(c.own.Pending(), func(s *datagram.Pending) bool { return !s.Streamed }) {
			c.out.leave = false
			c.out.message = protocol.Message{Kind: protocol.KindLeave, Text: c.out.reason}
			dst = c.out.writer.Append(dst, &c.out.message)
		}
	}
	c.measure.bytesOut += uint64(len(dst) - n)
	return dst
}

func (c *Client) auth() *protocol.Auth {
	if c.look != nil {
		a := protocol.NewViewerAuth(c.game)
		a.Token, a.Session = c.options.Token, c.session
		return a
	}
	a := protocol.NewAuth(c.game)
	a.Capabilities = []string{protocol.Resimulate}
	a.Token, a.Session, a.Position = c.options.Token, c.session, c.in.from()
	return a
}

// sendSmall appends the short messages. Together they fill less than half of a WebSocket message.
func (c *Client) sendSmall(dst []byte) []byte {
	o, m := &c.out, &c.out.message
	if o.pong {
		o.pong = false
		*m = protocol.Message{Kind: protocol.KindPong, Nonce: o.nonce, Tick: c.Tick()}
		dst = c.out.writer.Append(dst, m)
	}
	if o.ping {
		o.ping = false
		*m = protocol.Message{Kind: protocol.KindPing, Nonce: c.measure.ping(c.clock)}
		dst = c.out.writer.Append(dst, m)
	}
	if o.ready {
		o.ready = false
		*m = protocol.Message{Kind: protocol.KindReady, Ready: c.wantReady}
		dst = c.out.writer.Append(dst, m)
	}
	if o.sync {
		o.sync = false
		*m = protocol.Message{Kind: protocol.KindStateSyncRequest}
		dst = o.writer.Append(dst, m)
	}
	if c.look != nil && c.look.ack {
		c.look.ack = false
		*m = protocol.Message{Kind: protocol.KindViewAck, View: uint64(c.look.receiver.Number()), Tick: c.Tick()}
		dst = c.out.writer.Append(dst, m)
	}
	if c.ackDue() {
		o.acked, o.ackedTo, o.ackedAt, o.arrived, o.adopted = c.Tick(), c.in.position, c.clock, false, false
		*m = protocol.Message{Kind: protocol.KindAck, Position: c.in.position, Tick: o.acked}
		dst = c.out.writer.Append(dst, m)
	}
	for _, text := range o.chat {
		*m = protocol.Message{Kind: protocol.KindChat, Text: text}
		dst = c.out.writer.Append(dst, m)
	}
	clear(o.chat)
	o.chat = o.chat[:0]
	return dst
}

// ackRecords is after how many records the client acknowledges at the latest. A burst of notes has many in few ticks, and
// the server sends only so many that are not acknowledged.
const ackRecords = 32

// ackDue reports whether an ack is due. A client whose backlog is full does not acknowledge more.
func (c *Client) ackDue() bool {
	o := &c.out
	if c.in.from() == 0 || !o.arrived && c.Tick() == o.acked || c.run.Waiting() > c.options.MaxBacklog {
		return false
	}
	return o.adopted || c.Tick() >= o.acked+c.ackEvery || c.in.position >= o.ackedTo+ackRecords || c.clock-o.ackedAt >= lockstep.Second
}

func (c *Client) sendReports(dst []byte, start int) []byte {
	o, m := &c.out, &c.out.message
	if len(o.reports) == 0 || c.run.Follower() == nil || c.in.from() == 0 {
		return dst // a state is on its way, perhaps because a crash took the reported ticks back
	}
	horizon := (record.CheckWindow - 2) * lockstep.Tick(c.run.Follower().Header().Settings.CheckEvery)
	for i, t := range o.reports {
		if !room(dst, start, 9*protocol.MaxSections) {
			o.reports = o.reports[:copy(o.reports, o.reports[i:])]
			return dst
		}
		sum, ok := c.run.Follower().Sum(t)
		if !ok || t < c.serverTick && c.serverTick-t > horizon {
			continue // too old to be compared
		}
		*m = protocol.Message{Kind: protocol.KindChecksum, Tick: t, Hash: sum.Hash, Sections: sum.Sections}
		if len(sum.Sections) > protocol.MaxSections {
			m.Sections = nil
		}
		dst = c.out.writer.Append(dst, m)
	}
	o.reports = o.reports[:0]
	return dst
}

// room reports whether a message of sizeBytes still fits into the WebSocket message that begins at start.
func room(dst []byte, start, sizeBytes int) bool {
	return len(dst)-start+sizeBytes+64 <= protocol.MaxClientMessage
}

func (c *Client) sendCommands(dst []byte, start int) []byte {
	pending := c.own.Pending()
	if c.link == linkUp {
		pending = c.datagrams.Unheld(c.clock, c.measure.roundTrip, pending)
	}
	for _, s := range pending {
		if s.Streamed {
			continue
		}
		if !room(dst, start, len(s.Payload)) {
			return dst
		}
		s.Streamed = true
		c.out.message = protocol.Message{Kind: protocol.KindCommand, Sequence: s.Sequence, Command: s.Kind, Bytes: s.Payload}
		dst = c.out.writer.Append(dst, &c.out.message)
	}
	return dst
}

package player

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/outbox"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Submit queues a command, given as a pointer to its registered type, and returns its sequence. Its answer is a
// [lockstep.Receipt] among the events. The client sends it on each new connection until it is answered; it runs once.
func (c *Client) Submit(value any) (lockstep.Sequence, error) {
	if !c.welcomed || c.role == protocol.Spectator || c.link.State == dialing.Over || c.link.Err != nil || c.link.Leaving || c.over {
		return 0, ErrNotPlaying
	}
	kind, payload, err := c.payloads.Encode(value)
	if err != nil {
		return 0, err
	}
	seq, ok := c.own.Submit(c.clock, kind, payload)
	if !ok {
		return 0, fmt.Errorf("%w: %d commands", ErrUnanswered, record.CommandWindow)
	}
	path, expects := c.path()
	c.predict.Assume(&c.own, &path, expects, c.pace.Fraction())
	return seq, nil
}

// Chat queues a line of text for people, of at most [record.MaxNote] bytes.
func (c *Client) Chat(text string) error {
	if c.link.State != dialing.Up {
		return ErrNotPlaying
	}
	if !c.out.Chat(pack.Clip(text, record.MaxNote)) {
		return fmt.Errorf("%w: %d lines", ErrUnanswered, outbox.MaxChat)
	}
	return nil
}

// Leave gives up the seat, or stops watching. The reason is for the others, who hear it in [SeatChanged]; it is cut to
// record.MaxNote bytes, and may be "". After the match's end Leave drops the ticks that have not been run.
func (c *Client) Leave(reason string) {
	if c.over {
		c.run.Discard()
	}
	if c.link.Leaving || c.link.State == dialing.Over {
		return
	}
	c.out.Reason(pack.Clip(reason, record.MaxNote))
	if c.link.Leave(c.clock, c.Stage() == StageLive) {
		c.out.Want(outbox.Leave)
	}
}

// Corrupt inverts a bit of the field at a path of the confirmed state, for tests and demonstrations.
func (c *Client) Corrupt(path string) error {
	s := c.Simulation()
	if s == nil {
		return ErrNotPlaying
	}
	b := s.AppendState(nil)
	v, err := c.game.StateSchema().Lookup(b, path)
	if err != nil {
		return err
	}
	if !v.Flip() {
		return fmt.Errorf("lockstep: client: corrupt: got the path %q, want that of a number, a bool or a text that is not empty", path)
	}
	c.predict.Refuse()
	return c.run.Follower.Restore(b)
}

// Send appends the next message of the connection, and nothing if there is none. The returned bytes count as sent.
func (c *Client) Send(dst []byte) []byte {
	n, m := len(dst), &c.message // scratch
	switch {
	case c.link.State == dialing.Greeting && c.out.Take(outbox.Auth):
		var a *protocol.Auth
		if c.look != nil {
			a = protocol.NewViewerAuth(c.game)
		} else {
			a = protocol.NewAuth(c.game)
			a.Capabilities, a.Position = []string{protocol.Flight, protocol.Resimulate}, c.in.From()
			if c.options.Unpack != nil {
				a.Capabilities = []string{protocol.Flight, protocol.Packed, protocol.Resimulate}
			}
		}
		a.Token, a.Session = c.options.Token, c.session
		dst = c.out.Append(dst, &protocol.Message{Kind: protocol.KindAuth, Auth: a})
	case c.link.State == dialing.Closing && c.out.Panicked():
		dst = c.out.Last(dst, false)
	case c.link.State == dialing.Up, c.link.State == dialing.Closing && c.out.Wants(outbox.Leave):
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
		if f := c.run.Follower; f != nil && c.in.From() > 0 { // otherwise a state is on its way, perhaps because a crash took the reported ticks back
			dst = c.out.Reports(dst, n, f, c.serverTick)
		}
		pending := c.own.Pending()
		if c.link.State == dialing.Up {
			pending = c.datagrams.Unheld(c.clock, c.measure.roundTrip, pending)
		}
		dst = c.out.Commands(dst, n, pending)
		for outbox.Room(dst, n, 9*protocol.MaxSections) && c.answers.NextSum(m) {
			dst = c.out.Append(dst, m)
		}
		if outbox.Room(dst, n, protocol.MaxChunk) && c.answers.NextFlight(m) {
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

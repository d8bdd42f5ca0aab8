package player

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/answers"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/outbox"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Receive takes one message of the connection. An error says why the client hangs up because of it.
func (c *Client) Receive(now lockstep.Time, b []byte) error {
	c.tickClock(now)
	if !c.link.Open() {
		return nil
	}
	if c.line.Stream(c.clock) {
		c.tell(c.held)
	}
	c.measure.bytesIn += uint64(len(b))
	before := c.in.Tick()
	err := c.receive(b)
	c.measure.came(c.clock, before, &c.in, &c.pace, c.catchingUp)
	if err != nil {
		c.hangUp(err)
	}
	return err
}

func (c *Client) receive(b []byte) error {
	if len(b) > protocol.MaxServerMessage {
		return fmt.Errorf("lockstep: client: %w: got a message of %d bytes, want at most %d", record.ErrMalformed, len(b), protocol.MaxServerMessage)
	}
	for len(b) > 0 {
		var err error
		if protocol.IsRecord(b) && c.look != nil {
			b, err = c.noted(b)
		} else if protocol.IsRecord(b) {
			b, err = c.record(b)
		} else if b, err = c.reader.Read(&c.message, b); err == nil {
			err = c.dispatch(&c.message)
		}
		if err != nil {
			return err
		}
		if !c.link.Open() {
			return nil // nothing after a farewell is read
		}
	}
	return nil
}

// record takes the record that b begins with.
func (c *Client) record(b []byte) (rest []byte, err error) {
	if c.link.State() != dialing.Up || !c.in.Streaming() {
		return b, fmt.Errorf("lockstep: client: %w: a record before the state", record.ErrOutOfPlace)
	}
	if c.datagrams.Early() {
		size, err := c.datagrams.Repeated(c.in.Position(), b)
		if err != nil {
			c.in.Break() // it cannot go on
			return b, err
		}
		rest = b[size:]
	} else if rest, err = c.take(b); err != nil {
		return rest, err
	}
	if c.datagrams != nil {
		err = c.takeEarly(c.datagrams.Waiting(c.in.Position()))
	}
	return rest, err
}

// take takes the next record of the stream, with which b begins.
func (c *Client) take(b []byte) (rest []byte, err error) {
	at := c.in.Position()
	r, rest, err := c.in.Take(b)
	if err != nil {
		return b, err
	}
	raw := b[:len(b)-len(rest)]
	if c.datagrams != nil {
		c.datagrams.Took(at, raw)
	}
	c.serverTick = max(c.serverTick, c.in.Tick())
	c.pace.Arriving(c.in.Speed())
	c.out.Arrived()
	c.over = c.over || r.Kind == record.KindEnd
	if c.in.Dropping() {
		return rest, nil
	}
	var late error // a state is shorter
	if c.run.Waiting() > 2*c.options.MaxBacklog {
		late = fmt.Errorf("lockstep: client: more than %d bytes behind", 2*c.options.MaxBacklog)
	} else if c.in.Tick() > c.Tick() && c.in.Tick()-c.Tick() > maxWaiting {
		late = fmt.Errorf("lockstep: client: more than %d ticks behind", maxWaiting)
	}
	if late != nil {
		c.in.Drop()
		c.run.Discard()
		c.ask(late)
		return rest, nil
	}
	c.run.Push(raw)
	return rest, nil
}

func (c *Client) dispatch(m *protocol.Message) error {
	if c.link.State() == dialing.Greeting {
		switch m.Kind {
		case protocol.KindWelcome, protocol.KindError, protocol.KindClosing, protocol.KindPing:
		default:
			return fmt.Errorf("lockstep: client: %w: message %d before the welcome", record.ErrOutOfPlace, m.Kind)
		}
	}
	if c.look != nil {
		switch m.Kind {
		case protocol.KindViewSync, protocol.KindViewDelta:
			return c.viewed(m)
		case protocol.KindStateSync, protocol.KindStateRequest, protocol.KindResimulate, protocol.KindDesyncReport:
			return fmt.Errorf("lockstep: client: %w: message %d to a viewer", record.ErrOutOfPlace, m.Kind)
		}
	}
	switch m.Kind {
	case protocol.KindWelcome:
		return c.welcome(m.Welcome)
	case protocol.KindStateSync:
		return c.chunk(m)
	case protocol.KindCommandAccepted, protocol.KindCommandRejected:
		c.answered(m)
	case protocol.KindStateRequest:
		if f := c.run.Follower(); f != nil {
			var b []byte
			if m := f.Moment(m.Tick); m != nil {
				b = m.State
			}
			c.answers.State(m.Tick, b)
		}
	case protocol.KindResimulate:
		if !c.answers.Busy() {
			var material *answers.Material
			if !c.answers.Keeps(m.From, m.Tick) {
				material = materialOf(c.game, &c.run, m.From, m.Tick)
			}
			c.answers.Ask(c.clock, m.From, m.Tick, m.State, material)
		}
	case protocol.KindDesyncReport:
		c.run.Differs(Desynced{Tick: m.Tick, Agreed: m.Agreed, Section: m.Field})
		c.events = c.run.Events(c.events)
	case protocol.KindPing:
		c.out.Pong(m.Nonce)
	case protocol.KindPong:
		c.serverTick = max(c.serverTick, m.Tick)
		if !c.catchingUp {
			c.measure.pong(c.clock, m.Nonce)
		}
	case protocol.KindError:
		c.serverError(m)
	case protocol.KindHeld:
		c.held = heldOf(m, c.now)
		c.in.Held(m.Text == "")
		c.tell(c.held)
	case protocol.KindClosing:
		c.closing(m)
	default:
		return fmt.Errorf("lockstep: client: %w: message %d of a server", record.ErrOutOfPlace, m.Kind)
	}
	return nil
}

func (c *Client) welcome(w *protocol.Welcome) error {
	if c.link.State() != dialing.Greeting {
		return fmt.Errorf("lockstep: client: %w: a second welcome", record.ErrOutOfPlace)
	}
	if ok, at := c.in.Resumes(w.Position); w.Resumed && !ok {
		return fmt.Errorf("lockstep: client: %w: resumed at record %d, want %d", record.ErrOutOfPlace, w.Position, at)
	}
	if err := checkSeat(w.Seat, c.Header()); err != nil {
		return err
	}
	c.link.Welcomed(c.clock)
	c.welcomed = true
	c.seat, c.role, c.session = w.Seat, w.Role, w.Session
	c.ackEvery = lockstep.Tick(w.AckEvery)
	c.serverTick = w.Tick // less than before if a crash took ticks back
	renumbered := c.own.Known(w.LastSequence, w.Tick)
	c.pace.Interrupted()
	c.measure.begin(c.clock)
	c.catchingUp, c.progressed = !w.Resumed, 0
	c.in.Begin(c.clock, w)
	c.pace.Arriving(c.in.Speed())
	if c.out.Take(outbox.Ready); c.wantReady {
		c.out.Want(outbox.Ready)
	}
	c.tell(Welcomed{w.Seat, w.Role})
	for _, e := range renumbered {
		c.tell(Renumbered(e))
	}
	if w.Resumed {
		c.out.AckSoon()
		c.tell(StreamResumed{c.Tick()})
	}
	return nil
}

// checkSeat checks that the match with header h, if that is known, has the seat: programs use it as an index.
func checkSeat(seat lockstep.Player, h *lockstep.Header) error {
	if h == nil || seat == lockstep.System || seat < lockstep.Player(h.Settings.Players) {
		return nil
	}
	return fmt.Errorf("lockstep: client: %w: got seat %d in a match of %d seats", record.ErrContent, seat, h.Settings.Players)
}

// answered takes the receipt of a command, unless it answers a repeat.
func (c *Client) answered(m *protocol.Message) {
	if !c.own.Awaits(m.Sequence) {
		return
	}
	receipt := lockstep.Receipt{Sequence: m.Sequence, Tick: m.Tick, Reason: m.Reason, Wait: m.Wait(), Detail: m.Text}
	accepted := m.Kind == protocol.KindCommandAccepted
	a := c.own.Answer(&receipt, accepted, c.predict.Shown())
	c.predict.Answered(a, c.pace.Tick())
	// While a state sync is under way, a crash may have undone ticks that ran here, and an answer may be about the ticks that replace
	// them.
	if accepted && c.in.From() > 0 {
		c.own.Forget(c.Tick())
	}
	c.tell(receipt)
}

func (c *Client) serverError(m *protocol.Message) {
	e := ServerError{protocol.ErrorCode(m.Code), m.Text, m.Field}
	c.tell(e)
	err := fmt.Errorf("%w: %v: %s", ErrClosed, e.Code, m.Text)
	if m.Field != "" {
		err = fmt.Errorf("%w: %v of %s: %s", ErrClosed, e.Code, m.Field, m.Text)
	}
	switch e.Code {
	case protocol.ErrorRefused:
		if c.session != (protocol.SessionToken{}) && c.link.State() == dialing.Greeting {
			c.session = protocol.SessionToken{} // it was used up; the token may still be good
			c.hangUp(err)
			return
		}
		c.fail(err)
	case protocol.ErrorIdentity, protocol.ErrorMalformed, protocol.ErrorFull:
		c.fail(err)
	}
}

func (c *Client) closing(m *protocol.Message) {
	e := ServerClosing{protocol.CloseCode(m.Code), m.Text, lockstep.Time(m.RetryMS) * lockstep.Millisecond}
	c.tell(e)
	err := fmt.Errorf("%w: %v: %s", ErrClosed, e.Code, m.Text)
	switch {
	case c.link.Leaving() || c.over || e.Code == protocol.CloseLeft:
		c.link.Left()
	case e.Code == protocol.CloseEnded:
		c.over = true // the record that says so did not come
		c.tell(Ended{Reason: m.Text})
	case e.RetryAfter == 0 || e.RetryAfter > maxRetryAfter:
		c.fail(err)
	}
	c.link.Delay(e.RetryAfter)
	c.hangUp(err)
}

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

// streamIn is the part of the stream that has arrived.
type streamIn struct {
	streaming bool // the decoder stands in a stream
	dec       record.Decoder
	position  protocol.Position // of the next record
	assembly  assembly
	reader    protocol.Reader
	message   protocol.Message
	asks      int           // for a state, since the last one that was good
	dropping  bool          // records are not kept, because a new state is awaited
	paused    bool          // by the last tick
	resumes   bool          // the server has said since then that the match goes on
	waiting   lockstep.Time // since when a state has been awaited and nothing of it came
	awaited   lockstep.Time // since when it has been awaited
	most      int           // bytes of it that have come, at most: a server may begin again
}

// await begins to wait for a state.
func (s *streamIn) await(now lockstep.Time) { s.waiting, s.awaited, s.most = now, now, 0 }

// stalled reports whether a state is awaited, and comes too slowly or not at all.
func (s *streamIn) stalled(now lockstep.Time) bool {
	return s.from() == 0 && (now-s.waiting >= syncPatience || now-s.awaited >= syncPatience+lockstep.Time(s.most)*lockstep.Second/minSyncRate)
}

// from returns the position at which the stream can go on, or 0.
func (s *streamIn) from() protocol.Position {
	if !s.streaming || s.dropping {
		return 0
	}
	return s.position
}

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
	before := c.in.dec.Tick()
	err := c.receive(b)
	c.arrived(before)
	if err != nil {
		c.hangUp(err)
	}
	return err
}

// arrived notes that the ticks after before have come.
func (c *Client) arrived(before lockstep.Tick) {
	if c.in.streaming && c.in.dec.Tick() > before {
		if late := c.pace.arrived(c.clock, int64(c.in.dec.Tick()-before)); !c.catchingUp {
			c.measure.lateFrames += uint64(late)
		}
		c.pace.noBase = c.in.paused
	}
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
		} else if b, err = c.in.reader.Read(&c.in.message, b); err == nil {
			err = c.dispatch(&c.in.message)
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
	if c.link.State() != dialing.Up || !c.in.streaming {
		return b, fmt.Errorf("lockstep: client: %w: a record before the state", record.ErrOutOfPlace)
	}
	if c.datagrams.Early() {
		size, err := c.datagrams.Repeated(c.in.position, b)
		if err != nil {
			c.in.streaming = false // it cannot go on
			return b, err
		}
		rest = b[size:]
	} else if rest, err = c.take(b); err != nil {
		return rest, err
	}
	if c.datagrams != nil {
		err = c.takeEarly(c.datagrams.Waiting(c.in.position))
	}
	return rest, err
}

// take takes the next record of the stream, with which b begins.
func (c *Client) take(b []byte) (rest []byte, err error) {
	r, rest, err := c.in.dec.Decode(b)
	if err == nil && r.Kind == record.KindKeyframe {
		err = fmt.Errorf("lockstep: client: %w: a keyframe in the stream", record.ErrOutOfPlace)
	}
	if err != nil {
		c.in.streaming = false // it cannot go on
		return b, err
	}
	if c.datagrams != nil {
		c.datagrams.Took(c.in.position, b[:len(b)-len(rest)])
	}
	c.in.position++
	c.serverTick = max(c.serverTick, c.in.dec.Tick())
	c.out.Arrived()
	if r.Ticks() > 0 {
		c.expect(&r.Frame)
	}
	c.over = c.over || r.Kind == record.KindEnd
	if c.in.dropping {
		return rest, nil
	}
	var late error // a state is shorter
	if c.run.Waiting() > 2*c.options.MaxBacklog {
		late = fmt.Errorf("lockstep: client: more than %d bytes behind", 2*c.options.MaxBacklog)
	} else if c.in.dec.Tick() > c.Tick() && c.in.dec.Tick()-c.Tick() > maxWaiting {
		late = fmt.Errorf("lockstep: client: more than %d ticks behind", maxWaiting)
	}
	if late != nil {
		c.in.dropping = true
		c.run.Discard()
		c.ask(late)
		return rest, nil
	}
	c.run.Push(b[:len(b)-len(rest)])
	return rest, nil
}

// expect adjusts when later ticks are expected, after the commands of System in a frame.
func (c *Client) expect(f *lockstep.Frame) {
	c.in.paused = false
	for i := range f.Commands {
		if f.Commands[i].Player != lockstep.System {
			continue
		}
		switch v := systemCommand(c.payloads, &f.Commands[i]).(type) {
		case *lockstep.SpeedSet:
			c.pace.arriving = int64(v.Percent)
		case *lockstep.Paused:
			c.in.paused, c.in.resumes = true, false
		case *lockstep.Resumed:
			c.in.paused = false
		case *lockstep.InputDelaySet:
			c.inputDelay = lockstep.Tick(v.Ticks)
		}
	}
}

// systemCommand returns the value of a command of System, or nil.
func systemCommand(p *record.Payloads, cmd *lockstep.Command) any {
	own := *cmd
	p.Reset()
	if p.Decode(&own) != nil {
		return nil // the simulation will say so
	}
	return own.Value
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
		c.held, c.in.resumes = heldOf(m, c.now), m.Text == ""
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
	if w.Resumed && (!c.in.streaming || w.Position != c.in.position) {
		return fmt.Errorf("lockstep: client: %w: resumed at record %d, want %d", record.ErrOutOfPlace, w.Position, c.in.position)
	}
	if err := checkSeat(w.Seat, c.Header()); err != nil {
		return err
	}
	c.link.Welcomed(c.clock)
	c.welcomed = true
	c.seat, c.role, c.session = w.Seat, w.Role, w.Session
	c.ackEvery = lockstep.Tick(w.AckEvery)
	c.serverTick = w.Tick // less than before if a crash took ticks back
	c.inputDelay = lockstep.Tick(w.InputDelay)
	renumbered := c.own.Known(w.LastSequence, w.Tick)
	c.pace.noBase = true
	c.pace.arriving = int64(w.SpeedPercent)
	c.measure.begin(c.clock)
	c.catchingUp, c.progressed = !w.Resumed, 0
	c.in.streaming, c.in.paused = w.Resumed, false
	c.in.await(c.clock)
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
	c.predict.Answered(a, c.pace.duration(1, c.pace.playing))
	// While a state sync is under way, a crash may have undone ticks that ran here, and an answer may be about the ticks that replace
	// them.
	if accepted && c.in.from() > 0 {
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

package player

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/answers"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/follow"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/outbox"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/stream"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
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
	if c.link.State != dialing.Up || !c.in.Streaming {
		return b, fmt.Errorf("lockstep: client: %w: a record before the state", record.ErrOutOfPlace)
	}
	if c.datagrams.Early() {
		size, err := c.datagrams.Repeated(c.in.Position, b)
		if err != nil {
			c.in.Break() // it cannot go on
			return b, err
		}
		rest = b[size:]
	} else if rest, err = c.take(b); err != nil {
		return rest, err
	}
	if c.datagrams != nil {
		err = c.takeEarly(c.datagrams.Waiting(c.in.Position))
	}
	return rest, err
}

// take takes the next record of the stream, with which b begins.
func (c *Client) take(b []byte) (rest []byte, err error) {
	at := c.in.Position
	r, rest, err := c.in.Take(b)
	if err != nil {
		return b, err
	}
	raw := b[:len(b)-len(rest)]
	if c.datagrams != nil {
		c.datagrams.Took(at, raw)
	}
	c.serverTick = max(c.serverTick, c.in.Tick())
	c.pace.Arriving(c.in.Speed)
	c.out.Arrived()
	c.over = c.over || r.Kind == record.KindEnd
	if c.in.Dropping {
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
	if c.link.State == dialing.Greeting {
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
		case protocol.KindStateSync, protocol.KindStateRequest, protocol.KindFlightRequest, protocol.KindResimulate, protocol.KindDesyncReport:
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
		if f := c.run.Follower; f != nil {
			var b []byte
			if m := f.Moment(m.Tick); m != nil {
				b = m.State
			}
			c.answers.State(m.Tick, b)
		}
	case protocol.KindFlightRequest: // at once: a state of the server's may begin the record anew
		c.answers.Flight(m.Tick, c.run.Ring.Record().Append(nil))
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
	if c.link.State != dialing.Greeting {
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
	c.pace.Arriving(c.in.Speed)
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

// answered takes the receipt of a command, unless it answers a repeat. A viewer has no rules, so the server tells it with a second answer
// that they refused a command when it ran.
func (c *Client) answered(m *protocol.Message) {
	if !c.own.Awaits(m.Sequence) {
		if c.look != nil && m.Kind == protocol.KindCommandRejected && m.Reason == lockstep.Refused {
			if ran, ok := c.own.Late(m.Sequence); ok {
				c.tell(Refused{m.Sequence, ran, m.Text})
			}
		}
		return
	}
	receipt := lockstep.Receipt{Sequence: m.Sequence, Tick: m.Tick, Reason: m.Reason, Wait: m.Wait(), Detail: m.Text}
	accepted := m.Kind == protocol.KindCommandAccepted
	a := c.own.Answer(&receipt, accepted, c.predict.Shown())
	c.predict.Answered(a, c.pace.Tick())
	reason, refused := c.own.Owed(m.Sequence)
	// While a state sync is under way, a crash may have undone ticks that ran here, and an answer may be about the ticks that replace
	// them.
	if accepted && c.in.From() > 0 {
		c.own.Forget(c.Tick())
	}
	c.tell(receipt)
	if refused && accepted {
		c.tell(Refused{m.Sequence, m.Tick, reason})
	}
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
		if c.session != (protocol.SessionToken{}) && c.link.State == dialing.Greeting {
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
	case c.link.Leaving || c.over || e.Code == protocol.CloseLeft:
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

const (
	// maxWaiting is how many ticks that have arrived wait to be run. A run of empty ones has only some bytes, but may
	// be a day of them.
	maxWaiting = 2 * record.MaxEmptyRun
)

// ask asks for a state because of err, unless that has failed too often.
func (c *Client) ask(err error) {
	if !c.in.Ask(c.clock) {
		c.fail(fmt.Errorf("%w: %w", ErrNoSync, err))
		return
	}
	c.out.Want(outbox.Sync)
}

// chunk takes a part of a state sync.
func (c *Client) chunk(m *protocol.Message) error {
	a, whole, err := c.in.Chunk(c.clock, m, c.options.MaxState)
	if err != nil {
		return err
	}
	c.tell(SyncProgress{Bytes: uint32(len(a.Bytes)), TotalBytes: a.Total, Tick: c.Tick(), Target: c.serverTick})
	if !whole {
		return nil
	}
	c.serverTick = max(c.serverTick, a.Tick)
	err = c.adopt(a)
	c.in.Lost()
	identity, asset := (*lockstep.IdentityError)(nil), (*record.AssetError)(nil)
	if errors.As(err, &identity) || errors.As(err, &asset) { // another state needs the same assets
		c.fail(err)
	} else if err != nil {
		c.ask(err)
	}
	return nil
}

// adopt begins the stream anew with a complete state sync.
func (c *Client) adopt(a *stream.Assembly) error {
	var dec record.Decoder
	r, rest, err := dec.Decode(a.Bytes)
	if err != nil {
		return err
	}
	header := len(a.Bytes) - len(rest)
	heavy := c.options.Heavy
	heavy.Found = func(d *twin.Difference) { c.tell(d) }
	f := c.game.NewFollower(lockstep.FollowerOptions{
		History:  lockstep.HistoryOptions{Length: c.options.KeepStates, States: true},
		Observer: c.options.Observer, Heavy: heavy,
		Flight: c.run.Ring,
	})
	if old := c.Header(); old != nil && old.Match != r.Header.Match {
		return &lockstep.IdentityError{Field: "match", Got: r.Header.Match.String(), Want: old.Match.String()}
	}
	if err := f.Apply(r); err != nil {
		return err
	}
	if err := checkSeat(c.seat, f.Header()); err != nil {
		return err
	}
	r, rest, err = dec.Decode(rest)
	if err != nil {
		return err
	}
	if r.Tick != a.Tick {
		return fmt.Errorf("lockstep: client: %w: a state of tick %d, want tick %d", record.ErrMalformed, r.Tick, a.Tick)
	}
	if err := f.Apply(r); err != nil {
		return err
	}
	if err := c.roster.adopt(&dec, rest, f.Header()); err != nil {
		return err
	}
	if n, differs := c.run.Lag(f.Tick(), c.run.Level(c.in.Tick())); differs && (n < 0 || c.runTicks(n) == nil) {
		c.run.KeepWrong() // otherwise the game fails on such a state
	}
	if c.options.Log != nil {
		//samestep:allow unseen an observer, from which nothing comes back
		c.options.Log(a.Bytes[:header])
		//samestep:allow unseen the same
		c.options.Log(a.Bytes[header : len(a.Bytes)-len(rest)])
	}
	c.in.Adopt(a.Position, &dec)
	c.datagrams.Begin(a.Position)
	c.run.Begin(f, &dec)
	c.events = c.run.Events(c.events)
	c.pace.Begin(&f.Header().Settings)
	c.predict.Refuse()
	c.own.Forget(f.Tick())
	c.out.Adopted(f.Tick())
	c.catchingUp, c.progressed = true, 0
	return nil
}

// A Sight is what a client of views sees: the last two views of the match, and how much of the time between them has passed. The
// views are canonical bytes of the game's view type (see [lockstep.DecodeView]). A Sight is valid until the next call of the
// client.
type Sight struct {
	Viewer       string        // whose views they are, such as "team:1"
	Players      uint8         // seats of the match
	Period       lockstep.Time // of a tick at full speed
	Previous     []byte        // the same as Current if there is no other
	Current      []byte
	PreviousTick lockstep.Tick
	Tick         lockstep.Tick
	Fraction     Fraction // of the time from Previous to Current, beyond One while the next view is late

	// Own are the player's own commands that Current does not have yet, with their values, ascending by sequence. A renderer that
	// shows at once what they will do applies them to what it draws.
	Own []lockstep.Command
}

// Sight returns what the client sees, and false before its first view.
func (c *Client) Sight() (Sight, bool) {
	if c.look == nil {
		return Sight{}, false
	}
	l, ok := c.look.Look(c.clock, c.options.Extrapolate)
	if !ok {
		return Sight{}, false
	}
	c.seen = c.own.Append(c.seen[:0], c.seat)
	c.payloads.Reset()
	for i := range c.seen {
		if err := c.payloads.Decode(&c.seen[i]); err != nil {
			panic(err) // the client has made it
		}
	}
	return Sight{
		Viewer: l.Viewer, Players: l.Players, Period: l.Period, Previous: l.Previous, Current: l.Current,
		PreviousTick: l.PreviousTick, Tick: l.Tick, Fraction: Fraction(l.Fraction), Own: c.seen,
	}, true
}

// noted takes a record that a viewer gets.
func (c *Client) noted(b []byte) (rest []byte, err error) {
	dec := record.DecoderAt(c.Tick())
	r, rest, err := dec.Decode(b)
	if err != nil {
		return b, err
	}
	switch {
	case r.Kind == record.KindEnd:
		c.over = true
		c.tell(endOf(c.game, r))
	case r.Kind != record.KindNote && r.Kind != record.KindEvent:
		return b, fmt.Errorf("lockstep: client: %w: a record of kind %d for a viewer", record.ErrOutOfPlace, r.Kind)
	case c.look.Blind():
		c.look.Keep(b[:len(b)-len(rest)])
	default:
		c.roster.take(r)
	}
	return rest, nil
}

// viewed takes a message about views.
func (c *Client) viewed(m *protocol.Message) error {
	if m.Kind == protocol.KindViewSync {
		plan, err := c.look.Check(m)
		if err != nil {
			return err
		}
		if c.look.Blind() {
			dec := record.DecoderAt(c.Tick())
			h := &lockstep.Header{Settings: lockstep.Settings{Players: m.Players}}
			if err := c.roster.adopt(&dec, c.look.Notes, h); err != nil {
				return err
			}
		}
		if c.look.Begin(plan, m) {
			c.tell(Looking{m.Text})
		}
		return nil
	}
	whole, first, err := c.look.Delta(m, c.clock)
	if err != nil {
		return err
	}
	if !whole {
		c.in.Await(c.clock)
		return nil
	}
	c.own.Forget(m.Tick)
	c.serverTick = max(c.serverTick, m.Tick)
	if first {
		c.catchingUp = false
		c.tell(Synced{m.Tick})
	}
	return nil
}

// SessionToken returns the secret with which the server knows whose datagrams arrive, and false while the client has none.
func (c *Client) SessionToken() (protocol.SessionToken, bool) {
	return c.session, c.link.State == dialing.Up && c.look == nil && c.session != protocol.SessionToken{}
}

// Shown returns the subprotocols that the next WebSocket should offer besides the server's own one, see [protocol.Shown].
func (c *Client) Shown() []string { return protocol.Shown(c.options.Token, c.session) }

// SendDatagram appends the next datagram for the server, or nothing. The caller sends each, before it calls Send: commands that
// datagrams carry wait for the stream. A caller without a path of datagrams never calls it.
func (c *Client) SendDatagram(dst []byte) []byte {
	if c.link.State != dialing.Up || c.look != nil {
		return dst
	}
	if c.datagrams == nil {
		c.datagrams = datagram.NewPlayerEnd(c.in.Position)
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
	if c.link.State != dialing.Up || c.datagrams == nil {
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
		if !c.in.Streaming {
			return nil
		}
		next, err := c.datagrams.Offer(&d.Records[i], c.in.Position)
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
	for ; b != nil; b = c.datagrams.Waiting(c.in.Position) {
		rest, err := c.take(b)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("lockstep: client: %w: %d trailing bytes after a record in a datagram", record.ErrMalformed, len(rest))
		}
		if err != nil {
			c.in.Break() // it cannot go on
			return err
		}
	}
	return nil
}

// materialOf copies what is needed to compute the ticks from+1 to last again, and returns nil if it is not kept.
func materialOf(g *lockstep.Game, r *follow.Run, from, last lockstep.Tick) *answers.Material {
	f := r.Follower
	if f == nil || f.Tick() < last || last-from > answers.MaxTicks {
		return nil
	}
	m := f.Moment(from)
	if m == nil || m.State == nil {
		return nil
	}
	commands, first, kept := r.Past(from, last)
	sim, err := g.AwaitState(f.Header())
	if !kept || err != nil {
		return nil
	}
	return &answers.Material{From: from, Last: last, State: append([]byte(nil), m.State...), Hash: m.Sum.Hash, Commands: commands, First: first, Sim: sim}
}

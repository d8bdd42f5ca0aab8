package player

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/answers"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/commands"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/follow"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/outbox"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/playout"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/predict"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/quiet"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/stream"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/views"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Client is a player's or spectator's side of a live match. It owns no socket and no clock: its owner gives it the
// time and the bytes that arrive, sends its bytes, and dials when it wants a connection, as the package's page says. It belongs to one
// goroutine.
type Client struct {
	game    *lockstep.Game
	options Options
	link    dialing.Link
	over    bool // the match's end has arrived

	ticker
	line quiet.Line

	held      Held // as the server says
	wantReady bool
	roster    roster

	// From the welcome message.
	welcomed   bool // once
	seat       lockstep.Player
	role       protocol.Role
	session    protocol.SessionToken
	ackEvery   lockstep.Tick
	serverTick lockstep.Tick // the last that is known to be sealed

	in         stream.Stream
	reader     protocol.Reader
	message    protocol.Message    // scratch
	datagrams  *datagram.PlayerEnd // or nil
	run        follow.Run
	out        outbox.Box
	own        commands.Own
	payloads   *record.Payloads
	predict    predict.Prediction
	smooth     smoothness
	answers    answers.Answers
	pace       playout.Playout
	look       *views.Views       // of a client of views, or nil
	seen       []lockstep.Command // own ones of the last Sight
	catchingUp bool
	progressed lockstep.Tick // of the last progress event
	events     []any         // that Ready has not returned
	ready      Ready
	measure    measure
}

// New returns a Client of a match of game g.
func New(g *lockstep.Game, o Options) *Client {
	o.defaults()
	c := &Client{game: g, options: o, seat: lockstep.System, own: commands.New(), payloads: g.NewPayloads(), in: stream.New(g)}
	if o.Views {
		c.look = views.New(g)
	}
	c.run = follow.New(follow.Options{Game: g, States: o.KeepStates, Tape: o.MaxBacklog / 4, Previous: o.Interpolate, Log: o.Log})
	c.roster.tell = c.tell
	c.link = dialing.New(dialing.Policy(o.Reconnect), o.Seed)
	c.pace = playout.New(playout.Options(o.Pacing))
	c.predict = predict.New(predict.Options{Ahead: o.Predict, Late: o.PredictLate})
	return c
}

// Err returns why the client has given up, or nil if it has not.
func (c *Client) Err() error { return c.link.Err }

// Simulation returns the confirmed state, for reading, or nil before the first state has arrived.
func (c *Client) Simulation() *lockstep.Simulation {
	if f := c.run.Follower; f != nil {
		return f.Simulation()
	}
	return nil
}

// Header returns the match's header, or nil before the first state has arrived.
func (c *Client) Header() *lockstep.Header {
	if f := c.run.Follower; f != nil {
		return f.Header()
	}
	return nil
}

const (
	// maxRetryAfter is the longest wait that a server can ask for. A client that is asked for more gives up.
	maxRetryAfter = 3600 * lockstep.Second
)

// Connected says that a connection is open.
func (c *Client) Connected(now lockstep.Time) {
	c.tickClock(now)
	if !c.link.Connected(c.clock) {
		return
	}
	c.line, c.held = quiet.Begin(c.clock, c.options.Silence), Held{}
	c.measure.repeats += c.datagrams.Repeats()
	c.datagrams = nil
	c.out.Begin()
	c.out.Want(outbox.Auth)
	c.tell(Connected{})
}

// Disconnected says that the connection is gone or could not be made, and why; err is nil if the client wanted it
// closed.
func (c *Client) Disconnected(now lockstep.Time, err error) {
	c.tickClock(now)
	l, ok := c.link.Lost(c.clock, c.Stage() == StageLive, c.over, err)
	if !ok {
		return
	}
	c.in.Lost()
	if c.look != nil {
		c.look.Drop()
	}
	c.own.Unsent()
	c.out.Begin()
	c.answers.Reset()
	switch {
	case l.Over:
	case l.Had:
		c.run.CloseCheck()
		c.events = c.run.Events(c.events)
		c.tell(ConnectionLost{l.Err})
	default:
		c.tell(ConnectFailed{l.Err})
	}
	if err := c.link.Err; err != nil {
		c.tell(LostForGood{err})
	} else if !l.Over {
		c.tell(Retrying{l.Attempt, c.now + l.At - c.clock})
	}
}

// Retry makes the next attempt to connect due at once, as when the user asks for it or the network is back. The waits
// begin anew after it. It does nothing while there is a connection, or none is wanted.
func (c *Client) Retry() {
	if attempt, ok := c.link.Retry(c.clock); ok {
		c.tell(Retrying{attempt, c.now})
	}
}

// Held returns why the match stands still or runs slower, as the last event of this type said. That of a silent server ends at the
// latest when the client hangs up.
func (c *Client) Held() Held {
	if !c.line.Stalled {
		return c.held
	}
	silent := c.clock - c.line.Last
	return Held{Reason: LinkStalled, Since: c.now - silent, Until: c.now + max(0, c.line.SilentAt()-c.clock)}
}

// patience returns for how long the server may send nothing until a user is told.
func (c *Client) patience() lockstep.Time {
	paused, resumes := c.in.Paused()
	switch {
	case c.look != nil && c.link.State == dialing.Up: // a server sends something at least every ackEvery ticks
		return max(quiet.Time, min(2*c.look.Period*lockstep.Time(c.ackEvery), c.options.PingEvery+quiet.Time))
	case c.link.State != dialing.Up || c.run.Follower == nil:
		return lockstep.Time(1 << 60)
	case c.held.Reason != "" || paused && !resumes || c.in.From() == 0: // answers to pings come, at least
		return c.options.PingEvery + quiet.Time
	}
	return max(quiet.Time, min(3*c.pace.Arrival(), c.options.PingEvery+quiet.Time)) // in slow ticks, answers to pings come first
}

// SetReady says whether the player is ready to begin. It matters in the lobby of a match, where everybody sees it in
// [Seat]; the client says it again after a reconnect. Spectators are not asked.
func (c *Client) SetReady(ready bool) {
	if c.wantReady != ready {
		c.wantReady = ready
		c.out.Want(outbox.Ready)
	}
}

// Ready returns what happened since its last call, and when the client wants to be called again. The owner calls it
// after each other method, until it returns no events: what the owner does because of an event can make more. Whether
// there is something to send is not in it, because only the owner knows when the connection takes more; see
// [Client.Send].
func (c *Client) Ready() *Ready {
	r := &c.ready
	clear(r.Events)
	if r.Events, c.events = c.events, r.Events[:0]; cap(c.events) > maxEvents {
		c.events = nil
	}
	at := c.clock + lockstep.Second
	switch c.link.State {
	case dialing.Waiting:
		at = min(at, c.link.DialAt)
	case dialing.Greeting, dialing.Up:
		at = min(at, c.line.SilentAt(), c.line.Due(c.patience()))
		if c.link.State == dialing.Up {
			at = min(at, c.measure.pingAt, c.datagrams.Wake(c.clock, c.own.Pending()))
		}
	}
	if c.link.State == dialing.Up && !c.catchingUp {
		at = min(at, c.answers.Due())
	}
	level := int64(c.run.Level(c.in.Tick()))
	if waiting := c.run.Untimed(); c.link.Err == nil && (level > 0 || waiting || c.pace.Owed < c.mostOwed()) {
		if c.catchingUp || waiting {
			r.Next = c.now
			return r
		}
		at = min(at, c.pace.Next(level))
	}
	r.Next = c.now + max(0, at-c.clock)
	return r
}

func (c *Client) tell(e any) { c.events = append(c.events, e) }

// fail gives up because of an err that another connection cannot mend.
func (c *Client) fail(err error) {
	p := (*lockstep.PanicError)(nil)
	if c.link.State == dialing.Up && c.look == nil && c.link.Err == nil && errors.As(err, &p) {
		c.out.Panic(p) // before the connection ends, the server is told
	}
	if c.link.Fail(c.clock, c.Stage() == StageLive, err) {
		c.tell(LostForGood{err})
	}
}

// hangUp asks the owner to close the connection because of err.
func (c *Client) hangUp(err error) { c.link.HangUp(c.clock, c.Stage() == StageLive, err) }

// Advance lets the time pass: it runs the ticks that are due.
func (c *Client) Advance(now lockstep.Time) {
	c.tickClock(now)
	c.timers()
	c.play()
	if c.run.Follower != nil { // a client that catches up has no time to compute ticks again
		want, known := c.run.Agreed(c.answers.Last())
		free := c.link.State == dialing.Up && !c.catchingUp
		if o, news := c.answers.Advance(c.clock, c.pace.Full(), free, want, known); news {
			c.tell(Resimulated(o))
		}
	}
	c.measure.advance(c.clock)
}

func (c *Client) timers() {
	if attempt, dials := c.link.Advance(c.clock); dials {
		c.tell(Dialing{attempt})
	}
	if !c.link.Open() {
		return
	}
	if c.clock >= c.line.SilentAt() {
		c.hangUp(ErrSilent)
		return
	}
	up := c.link.State == dialing.Up
	if !up && c.clock-c.link.Opened >= stream.Patience || up && c.in.Stalled(c.clock) && (c.look == nil || c.Stage() == StageSyncing) {
		c.hangUp(ErrNoSync)
		return
	}
	if !c.over && c.line.Notice(c.clock, c.gap, c.patience()) {
		c.tell(c.Held())
	}
	if up && c.clock >= c.measure.pingAt {
		c.measure.pingAt = c.clock + c.options.PingEvery
		c.out.Want(outbox.Ping)
	}
}

// A Stage is the state of a client; see [Client].
type Stage uint8

// The stages of a client.
const (
	StageWaiting    Stage = iota // for the time of the next attempt
	StageDialing                 // wants a connection
	StageGreeting                // has one, and waits for the welcome
	StageSyncing                 // waits for the state
	StageCatchingUp              // runs ticks as fast as it can
	StageLive
	StageClosing  // wants the connection closed, after what Send returns
	StageDraining // the match has ended; what has arrived is still run
	StageDone
)

var stageTexts = [...]string{"waiting", "dialing", "greeting", "syncing", "catching up", "live", "closing", "draining", "done"}

func (s Stage) String() string { return stageTexts[s] }

// Stage returns the state of the client.
func (c *Client) Stage() Stage {
	switch c.link.State {
	case dialing.Waiting:
		return StageWaiting
	case dialing.Dialing:
		return StageDialing
	case dialing.Greeting:
		return StageGreeting
	case dialing.Closing:
		return StageClosing
	case dialing.Over:
		if c.over && c.link.Err == nil && (c.run.Level(c.in.Tick()) > 0 || c.run.Waiting() > 0) {
			return StageDraining
		}
		return StageDone
	}
	switch {
	case c.look != nil && !c.look.Looks(), c.look == nil && (c.run.Follower == nil || c.in.From() == 0): // nothing of the match on this connection
		return StageSyncing
	case c.catchingUp:
		return StageCatchingUp
	}
	return StageLive
}

// maxGap bounds how far the client's clock moves at a time. It is longer than the time between two calls (see Ready),
// and shorter than the silence that ends a connection: a machine that slept first reads the bytes that have arrived.
const maxGap = 2 * lockstep.Second

// A ticker makes a clock of our own from the caller's times.
type ticker struct {
	now     lockstep.Time // the caller's
	clock   lockstep.Time // our own: without jumps
	gap     lockstep.Time // since the call before
	started bool
}

// tickClock takes the caller's time.
func (t *ticker) tickClock(now lockstep.Time) {
	if !t.started {
		t.started, t.now = true, now
	}
	t.gap = now - t.now
	t.clock += min(max(0, t.gap), maxGap)
	t.now = now
}

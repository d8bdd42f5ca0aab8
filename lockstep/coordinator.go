package lockstep

import (
	"errors"
	"fmt"
)

// MaxInputDelay is the largest input delay, in ticks.
const MaxInputDelay = 250

// Errors of a Coordinator.
var (
	// ErrEnded: the match is over; nothing can be added to its log.
	ErrEnded = errors.New("lockstep: the match has ended")

	// ErrSeat: no such seat, or it is not in the state that the call needs.
	ErrSeat = errors.New("lockstep: wrong seat")

	// ErrBusy: more system commands than a tick has room for; try again later.
	ErrBusy = errors.New("lockstep: busy")

	// ErrReport: a checksum report that cannot be compared.
	ErrReport = errors.New("lockstep: checksum report refused")
)

// CoordinatorOptions are a Coordinator's policies. The zero value is sensible.
type CoordinatorOptions struct {
	// InputDelay is how many ticks after the last sealed one a command runs,
	// 1 (which 0 means, too) to MaxInputDelay.
	InputDelay Tick

	// MaxPerTick is how many commands a player can have in one tick; 0 means 64.
	MaxPerTick int

	// MaxBytesPerTick is how many bytes their payloads can have together; 0
	// means 64 KiB. With it, what waits for a tick is at most that much for each
	// player.
	MaxBytesPerTick int

	// Relay makes the Coordinator order and log commands without simulating
	// them: there is no referee, no keyframe but the first, and no validation
	// beyond the form of a command.
	Relay bool

	// Referee says what the referee keeps of its past and who observes it.
	Referee FollowerOptions

	// Desync is called with each desync report; nil for nobody.
	Desync func(*DesyncReport)

	// Frames returns the frames of the ticks after one up to another, or nil if
	// they are not all kept. With it, and if Referee keeps states, the referee
	// computes again what it is contradicted in, and takes back its own mistakes:
	// a bit that flips in its memory must not be blamed on every player.
	Frames func(from, to Tick) []Frame

	// Retrial is asked before ticks are computed again because of a player's report;
	// nil allows it always.
	Retrial func(p Player, ticks int) bool
}

// A Coordinator decides the order of a match's commands. It takes submissions
// in any order, seals one frame a tick, and writes the log. It owns no clock:
// its caller calls Tick when a tick is due. It belongs to one goroutine.
type Coordinator struct {
	game     *Game
	header   *Header
	options  CoordinatorOptions
	log      Log
	enc      Encoder
	payloads *Payloads
	referee  *Follower // nil in relay mode
	checks   checks

	sealed      Tick
	frame       Frame
	slots       slots
	seats       []seat
	system      Sequence // of the last command of System
	paused      bool
	pausing     bool   // the next tick pauses the match
	retried     Tick   // checks up to this one were computed again …
	retriedFrom Tick   // … beginning at this tick
	retrials    uint64 // ticks computed again because of a report
	err         error  // why the match is over
	broken      bool   // because the log failed

	cmd  Command        // being examined; a field because the game sees its address
	last []LastSequence // scratch
	buf  []byte         // scratch

	stateBytes int // of the last keyframe in the log
}

// NewCoordinator begins a match: it writes the header and the state at tick 0
// into log, and waits for players to join and for tick 1 to be due.
func NewCoordinator(g *Game, h *Header, log Log, o CoordinatorOptions) (*Coordinator, error) {
	if o.InputDelay == 0 {
		o.InputDelay = 1
	}
	if o.MaxPerTick == 0 {
		o.MaxPerTick = 64
	}
	if o.MaxBytesPerTick == 0 {
		o.MaxBytesPerTick = 64 << 10
	}
	if o.InputDelay > MaxInputDelay {
		return nil, fmt.Errorf("lockstep: input delay: got %d ticks, want 1 to %d", o.InputDelay, MaxInputDelay)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		return nil, err
	}
	c := &Coordinator{
		game: g, header: h, options: o, log: log,
		payloads: g.NewPayloads(),
		seats:    make([]seat, h.Settings.Players),
		checks:   newChecks(h.Settings.Players),
	}
	if err := c.append(c.enc.Header(h)); err != nil {
		return nil, err
	}
	if err := c.keyframe(sim); err != nil {
		return nil, err
	}
	if !o.Relay {
		c.referee = newFollowerAt(g, h, sim, o.Referee)
	}
	return c, nil
}

// append writes a record into the log. A log that fails ends the match.
func (c *Coordinator) append(record []byte) error {
	if err := c.log.Append(record); err != nil {
		return c.breakOff(err)
	}
	return nil
}

// breakOff ends the match without a last record, because the log failed.
func (c *Coordinator) breakOff(err error) error {
	c.broken = true
	c.err = fmt.Errorf("lockstep: after tick %d: the log failed: %w", c.sealed, err)
	return c.err
}

// keyframe writes the state of sim into the log.
func (c *Coordinator) keyframe(sim *Simulation) error {
	c.buf = sim.AppendState(c.buf[:0])
	if len(c.buf) > MaxStateSize {
		return fmt.Errorf("lockstep: tick %d: got a state of %d bytes, want at most %d", sim.Tick(), len(c.buf), MaxStateSize)
	}
	c.stateBytes = len(c.buf)
	c.last = c.enc.AppendLast(c.last[:0])
	return c.append(c.enc.Keyframe(sim.Tick(), sim.Root(), c.last, c.buf))
}

// Now returns the last sealed tick.
func (c *Coordinator) Now() Tick { return c.sealed }

// Err returns why the match is over, and nil while it goes on.
func (c *Coordinator) Err() error { return c.err }

// Referee returns the coordinator's own copy of the match, for reading, or nil
// in relay mode.
func (c *Coordinator) Referee() *Follower { return c.referee }

// Submit takes a command of player p and answers it. The issuer is whoever the
// caller knows p to be; the other arguments may be anything. An accepted
// command runs in the receipt's tick, exactly once, however often it is
// submitted.
func (c *Coordinator) Submit(p Player, seq Sequence, kind Kind, payload []byte) Receipt {
	if c.err != nil {
		return Receipt{Sequence: seq, Reason: MatchEnded}
	}
	if !c.Seated(p) {
		return Receipt{Sequence: seq, Reason: NotSeated}
	}
	s := &c.seats[p]
	if r, ok := s.receipt(seq); ok {
		return r
	}
	if reason := s.order(seq); reason != Accepted {
		return Receipt{Sequence: seq, Reason: reason}
	}
	cmd := &c.cmd
	*cmd = Command{
		Tick:   s.place(seq, c.sealed+c.options.InputDelay),
		Player: p, Sequence: seq, Kind: kind, Payload: payload,
	}
	if reason, detail := c.examine(cmd); reason != Accepted {
		return s.remember(Receipt{Sequence: seq, Reason: reason, Detail: detail})
	}
	c.slot(cmd.Tick).add(*cmd)
	s.last = max(s.last, cmd.Tick)
	return s.remember(Receipt{Sequence: seq, Tick: cmd.Tick})
}

// examine returns the reason to reject a command, and more about it.
func (c *Coordinator) examine(cmd *Command) (Reason, string) {
	slot := c.slot(cmd.Tick)
	share := slot.shares[cmd.Player]
	switch {
	case len(cmd.Payload) > MaxPayload:
		return TooLarge, fmt.Sprintf("got %d bytes, want at most %d", len(cmd.Payload), MaxPayload)
	case int(share.commands) >= c.options.MaxPerTick || len(slot.commands)-slot.system >= MaxFrameCommands-systemRoom:
		return TooMany, ""
	case int(share.sizeBytes)+len(cmd.Payload) > c.options.MaxBytesPerTick:
		return TooMany, fmt.Sprintf("got %d bytes, want at most %d", int(share.sizeBytes)+len(cmd.Payload), c.options.MaxBytesPerTick)
	case len(slot.payloads)+len(cmd.Payload) > MaxFrameBytes:
		return TooMany, fmt.Sprintf("got %d bytes of all players, want at most %d", len(slot.payloads)+len(cmd.Payload), MaxFrameBytes)
	case !c.game.HasKind(cmd.Kind):
		return UnknownKind, fmt.Sprintf("got %d", cmd.Kind)
	}
	c.payloads.Reset()
	if err := c.payloads.decode(cmd); err != nil {
		return Malformed, clip(err.Error(), MaxNote)
	}
	if c.referee == nil {
		return Accepted, ""
	}
	err := c.referee.sim.Validate(cmd)
	if err == nil {
		return Accepted, "" // before fault is allocated
	}
	if fault := (*PanicError)(nil); errors.As(err, &fault) {
		c.fail(err)
		return MatchEnded, ""
	}
	return Refused, clip(err.Error(), MaxNote)
}

// fail ends the match because of err, unless it is over.
func (c *Coordinator) fail(err error) error {
	if c.err != nil {
		return c.err
	}
	if end := c.End(err.Error()); end != nil {
		err = errors.Join(err, end)
	}
	c.err = err
	return err
}

// Note writes text that concerns people only into the log: a name, a line of
// chat. It never reaches the simulation.
func (c *Coordinator) Note(p Player, topic, text string) error {
	if c.err != nil {
		return c.err
	}
	return c.append(c.enc.Note(p, topic, text))
}

// End writes the last record. Afterwards the Coordinator answers everything
// with [ErrEnded].
func (c *Coordinator) End(reason string) error {
	if c.err != nil {
		return c.err
	}
	if err := c.append(c.enc.End(reason)); err != nil {
		return err
	}
	c.err = ErrEnded
	return nil
}

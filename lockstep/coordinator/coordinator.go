package coordinator

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Errors of a Coordinator.
var (
	// ErrEnded means that the match is over: nothing can be added to its log.
	ErrEnded = errors.New("lockstep: the match has ended")

	// ErrSeat means that there is no such seat, or that the call is not allowed in the seat's state.
	ErrSeat = errors.New("lockstep: wrong seat")

	// ErrPaused means that a paused match cannot be paused again, and ErrNotPaused that any other cannot be resumed.
	ErrPaused    = errors.New("lockstep: the match is paused")
	ErrNotPaused = errors.New("lockstep: the match is not paused")

	// ErrBusy means that the tick has no room for another system command. Try again later.
	ErrBusy = errors.New("lockstep: busy")

	// ErrReport means that a checksum report cannot be compared.
	ErrReport = errors.New("lockstep: checksum report refused")
)

// Options are a Coordinator's policies. The zero value is sensible.
type Options struct {
	// InputDelay is the number of ticks from the last sealed one to the tick in which a command runs. 0 means 1; at
	// most MaxInputDelay.
	InputDelay lockstep.Tick

	// MaxPerTick bounds the number of a player's commands in one tick; 0 means 64.
	MaxPerTick int

	// MaxBytesPerTick bounds the total size of their payloads; 0 means 64 KiB. It bounds the memory of waiting commands
	// per player and tick.
	MaxBytesPerTick int

	// Relay makes the Coordinator order and log commands without simulating them. There is no referee, only the first
	// keyframe is written, and only the form of commands is checked.
	Relay bool

	// Referee sets the history and the observer of the referee.
	Referee lockstep.FollowerOptions

	// Frames provides the latest frames of the match. If it is set and Referee keeps states, the referee re-simulates
	// ticks when a player contradicts it, and corrects its own mistakes: no player is blamed for a bit that flips in
	// the referee's memory.
	Frames FrameSource
}

// A FrameSource keeps the latest frames of a match, as a live match does for its peers.
type FrameSource interface {
	// Frames returns the frames of the ticks from+1 to to, or nil if one of them is no longer kept.
	Frames(from, to lockstep.Tick) []lockstep.Frame
}

// A Coordinator decides the order of a match's commands. It takes submissions in any order, seals one frame per tick,
// and writes the log. It has no clock: its caller calls Tick when a tick is due. It belongs to one goroutine.
type Coordinator struct {
	game     *lockstep.Game
	header   *lockstep.Header
	options  Options
	log      lockstep.Log
	enc      record.Encoder
	payloads *record.Payloads
	referee  *lockstep.Follower // nil in relay mode
	checks   checks

	sealed          lockstep.Tick
	frame           lockstep.Frame
	slots           slots
	seats           []seat
	limits          []limit
	system          lockstep.Sequence // of the last command of System
	paused          bool
	pausing         bool          // the next tick pauses the match
	resimulated     lockstep.Tick // checks up to this one were re-simulated …
	resimulatedFrom lockstep.Tick // … beginning at this tick
	resimulations   uint64        // ticks re-simulated because of a report
	mayResimulate   int           // ticks that may still be re-simulated
	desyncs         []*DesyncReport
	err             error  // why the match is over
	broken          bool   // because the log failed
	byRules         bool   // because the rules ended it …
	result          []byte // … with this result

	cmd  lockstep.Command      // the command being examined; a field because the game sees its address
	wait lockstep.Tick         // of the last examined command, see Receipt.Wait
	last []record.LastSequence // scratch

	stateBytes int           // of the last keyframe in the log
	stateTick  lockstep.Tick // of that
}

// New begins a match: it writes the header and the state at tick 0 into log. Tick 1 is next.
func New(g *lockstep.Game, h *lockstep.Header, log lockstep.Log, o Options) (*Coordinator, error) {
	c, err := newCoordinator(g, h, log, o)
	if err != nil {
		return nil, err
	}
	sim, err := g.NewSimulation(c.header)
	if err != nil {
		return nil, err
	}
	if err := c.begin(sim, nil); err != nil {
		return nil, err
	}
	return c, nil
}

// newCoordinator returns a Coordinator of a new match that is not in the log yet.
func newCoordinator(g *lockstep.Game, h *lockstep.Header, log lockstep.Log, o Options) (*Coordinator, error) {
	if o.InputDelay == 0 {
		o.InputDelay = 1
	}
	if o.MaxPerTick == 0 {
		o.MaxPerTick = 64
	}
	if o.MaxBytesPerTick == 0 {
		o.MaxBytesPerTick = 64 << 10
	}
	if o.InputDelay > record.MaxInputDelay {
		return nil, fmt.Errorf("lockstep: input delay: got %d ticks, want 1 to %d", o.InputDelay, record.MaxInputDelay)
	}
	if o.Relay && len(h.ResultSchema) > 0 {
		relayed := *h
		relayed.Settings.Relay = true
		h = &relayed
	}
	return &Coordinator{
		game: g, header: h, options: o, log: log,
		payloads: g.NewPayloads(),
		seats:    make([]seat, h.Settings.Players),
		limits:   newLimits(g, &h.Settings),
		checks:   newChecks(h.Settings.Players),

		mayResimulate: math.MaxInt,
	}, nil
}

// begin writes the header and the first state of a new match into the log, with the last sequences in that state.
func (c *Coordinator) begin(first *lockstep.Simulation, last []record.LastSequence) error {
	c.sealed = first.Tick()
	if err := c.append(c.enc.Header(c.header)); err != nil {
		return err
	}
	if err := c.keyframe(first, last); err != nil {
		return err
	}
	if !c.options.Relay {
		c.referee = c.game.NewFollowerAt(c.header, first, c.options.Referee)
	}
	return nil
}

// append writes a record into the log. A failing log ends the match.
func (c *Coordinator) append(record []byte) error {
	if err := c.log.Append(record); err != nil {
		return c.BreakOff(c.sealed, err)
	}
	return nil
}

// BreakOff ends the match without a last record because the log failed after a tick. It returns the error that ends the
// match. If the log failed earlier, it changes nothing.
func (c *Coordinator) BreakOff(after lockstep.Tick, err error) error {
	if c.broken {
		return c.err
	}
	c.broken = true
	c.err = fmt.Errorf("lockstep: after tick %d: the log failed: %w", after, err)
	return c.err
}

// Header returns the header in the log.
func (c *Coordinator) Header() *lockstep.Header { return c.header }

// Now returns the last sealed tick.
func (c *Coordinator) Now() lockstep.Tick { return c.sealed }

// Err returns why the match is over, and nil while it goes on.
func (c *Coordinator) Err() error { return c.err }

// Broken reports whether the match is over because its log failed. Such a log has no last record.
func (c *Coordinator) Broken() bool { return c.broken }

// InputDelay returns the number of ticks from the last sealed one to the tick in which a command runs.
func (c *Coordinator) InputDelay() lockstep.Tick { return c.options.InputDelay }

// Resimulated returns the number of ticks that were re-simulated because of reports.
func (c *Coordinator) Resimulated() uint64 { return c.resimulations }

// AllowResimulation sets how many more ticks may be re-simulated because of reports. Without a call there is no limit.
func (c *Coordinator) AllowResimulation(ticks int) { c.mayResimulate = ticks }

// LastDecided returns the highest sequence of player p that has a receipt.
func (c *Coordinator) LastDecided(p lockstep.Player) lockstep.Sequence { return c.seats[p].high }

// Receipt returns the receipt of a command of player p, if it is remembered.
func (c *Coordinator) Receipt(p lockstep.Player, seq lockstep.Sequence) (lockstep.Receipt, bool) {
	return c.seats[p].receipt(seq)
}

// AppendLast appends the last logged sequence of each player that has one, in ascending order of players, as a keyframe
// has them.
func (c *Coordinator) AppendLast(dst []record.LastSequence) []record.LastSequence {
	return c.enc.AppendLast(dst)
}

// LastLogged returns the last sequence of player p in the log, or 0.
func (c *Coordinator) LastLogged(p lockstep.Player) lockstep.Sequence { return c.enc.Last(p) }

// Referee returns the coordinator's own copy of the match, for reading, or nil in relay mode.
func (c *Coordinator) Referee() *lockstep.Follower { return c.referee }

// Submit takes a command of player p and answers it. The caller has authenticated p; the other arguments are untrusted.
// An accepted command runs in the receipt's tick, exactly once, even if it is submitted again.
func (c *Coordinator) Submit(p lockstep.Player, seq lockstep.Sequence, kind lockstep.Kind, payload []byte) lockstep.Receipt {
	if c.err != nil {
		return lockstep.Receipt{Sequence: seq, Reason: lockstep.MatchEnded}
	}
	if !c.Seated(p) {
		return lockstep.Receipt{Sequence: seq, Reason: lockstep.NotSeated}
	}
	s := &c.seats[p]
	if r, ok := s.receipt(seq); ok {
		return r
	}
	if reason := s.order(seq); reason != lockstep.Accepted {
		return lockstep.Receipt{Sequence: seq, Reason: reason}
	}
	cmd := &c.cmd
	*cmd = lockstep.Command{
		Tick:   s.place(seq, c.sealed+c.options.InputDelay),
		Player: p, Sequence: seq, Kind: kind, Payload: payload,
	}
	if reason, detail := c.examine(cmd); reason != lockstep.Accepted {
		return s.remember(lockstep.Receipt{Sequence: seq, Reason: reason, Wait: c.wait, Detail: detail})
	}
	s.used(c.limits, kind, cmd.Tick)
	c.slot(cmd.Tick).add(*cmd)
	s.last = max(s.last, cmd.Tick)
	return s.remember(lockstep.Receipt{Sequence: seq, Tick: cmd.Tick})
}

// examine returns the reason to reject a command, with details.
func (c *Coordinator) examine(cmd *lockstep.Command) (lockstep.Reason, string) {
	slot := c.slot(cmd.Tick)
	share := slot.shares[cmd.Player]
	c.wait = 0
	switch {
	case len(cmd.Payload) > lockstep.MaxPayload:
		return lockstep.TooLarge, fmt.Sprintf("got %d bytes, want at most %d", len(cmd.Payload), lockstep.MaxPayload)
	case int(share.commands) >= c.options.MaxPerTick || len(slot.commands)-slot.system >= record.MaxFrameCommands-systemRoom:
		return lockstep.TooMany, ""
	case int(share.sizeBytes)+len(cmd.Payload) > c.options.MaxBytesPerTick:
		return lockstep.TooMany, fmt.Sprintf("got %d bytes, want at most %d", int(share.sizeBytes)+len(cmd.Payload), c.options.MaxBytesPerTick)
	case len(slot.payloads)+len(cmd.Payload) > record.MaxFrameBytes:
		return lockstep.TooMany, "" // how many bytes the others gave is nobody's business
	case !c.game.HasKind(cmd.Kind):
		return lockstep.UnknownKind, fmt.Sprintf("got %d", cmd.Kind)
	}
	c.payloads.Reset()
	if err := c.payloads.Decode(cmd); err != nil {
		return lockstep.Malformed, pack.Clip(errors.Unwrap(err).Error(), record.MaxNote) // without the prefix
	}
	var excess string
	if c.wait, excess = c.seats[cmd.Player].wait(c.limits, cmd.Kind, cmd.Tick); c.wait > 0 {
		return lockstep.TooOften, excess
	}
	if c.referee == nil {
		return lockstep.Accepted, ""
	}
	err := c.referee.Simulation().Validate(cmd)
	if err == nil {
		return lockstep.Accepted, "" // before fault is allocated
	}
	if fault := (*lockstep.PanicError)(nil); errors.As(err, &fault) {
		_ = c.crashed(err, *cmd)
		return lockstep.MatchEnded, ""
	}
	return lockstep.Refused, pack.Clip(err.Error(), record.MaxNote)
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

// crashed ends the match because of err. If the rules panicked, the log gets the state of the last sealed tick before its end, if that can be
// computed again, and a record of the panic with the commands on which they did: no frame has them.
func (c *Coordinator) crashed(err error, commands ...lockstep.Command) error {
	fault := (*lockstep.PanicError)(nil)
	if c.err != nil || !errors.As(err, &fault) {
		return c.fail(err)
	}
	if sim := c.lastState(); sim != nil && c.stateTick != c.sealed {
		c.last = c.enc.AppendLast(c.last[:0])
		_ = c.keyframe(sim, c.last) // without it, the earlier ones and their frames lead there; a failed log is in c.err
	}
	if c.err == nil {
		_ = c.append(c.enc.Panic(&record.Panic{Where: fault.Where, Text: fmt.Sprint(fault.Value), Stack: string(fault.Stack), Frame: lockstep.Frame{Commands: commands}})) // the same
	}
	return c.fail(err)
}

// lastState computes the state of the last sealed tick again, from the latest one that is kept, or returns nil. The referee's own is unusable
// after a panic.
func (c *Coordinator) lastState() *lockstep.Simulation {
	var kept *lockstep.Moment
	for m := c.referee.MomentFrom(0); m != nil; m = c.referee.MomentFrom(m.Tick + 1) {
		if m.State != nil {
			kept = m
		}
	}
	if kept == nil || c.options.Frames == nil {
		return nil
	}
	//samestep:allow unseen the frames of the log, which the caller keeps
	frames := c.options.Frames.Frames(kept.Tick, c.sealed)
	if frames == nil || len(frames) > c.mayResimulate {
		return nil
	}
	c.mayResimulate -= len(frames)
	return c.again(kept, frames)
}

// again re-simulates frames from a kept state. It returns nil if that state was altered, too, or if the game panics.
func (c *Coordinator) again(m *lockstep.Moment, frames []lockstep.Frame) *lockstep.Simulation {
	sim, err := c.game.AwaitState(c.header)
	if err != nil || sim.Restore(m.Tick, m.State) != nil || sim.Hash() != m.Sum.Hash {
		return nil
	}
	for i := range frames {
		if sim.Step(&frames[i]) != nil {
			return nil
		}
	}
	return sim
}

// Note writes text for people into the log, such as a name or a line of chat. It never reaches the simulation.
func (c *Coordinator) Note(p lockstep.Player, topic, text string) error {
	if c.err != nil {
		return c.err
	}
	return c.append(c.enc.Note(p, topic, text))
}

// Event writes an event of [record.EventTypes] into the log. It never reaches the simulation.
func (c *Coordinator) Event(p lockstep.Player, name, text string) error {
	if c.err != nil {
		return c.err
	}
	return c.append(c.enc.Event(p, name, text))
}

// End writes the last record. Every later call fails with [ErrEnded].
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

func (c *Coordinator) slot(t lockstep.Tick) *slot { return c.slots.of(t, c.header.Settings.Players) }

// Seated reports whether p is in the match.
func (c *Coordinator) Seated(p lockstep.Player) bool {
	return int(p) < len(c.seats) && c.seats[p].present
}

// seated returns an error unless p is in the match and the match goes on.
func (c *Coordinator) seated(p lockstep.Player) error {
	if c.err == nil && !c.Seated(p) {
		return fmt.Errorf("%w: player %d is not in the match", ErrSeat, p)
	}
	return c.err
}

// Package coordinator decides the order of a match's commands. It answers each submitted command, seals one frame per
// tick, writes the log, compares checksums, and reports desyncs. A [Recovery] makes the coordinator that continues an
// interrupted match.
//
// # Order and receipts
//
// Every command has a player, a sequence that its player counts from 1 upwards, and the tick that the coordinator gives
// it. Commands run in the order of (tick, player, sequence), in whatever order they arrived. The coordinator's rules
// for a submitted sequence s of a player:
//
//   - Each sequence is answered once. Submitting s again gets the same receipt, and an accepted command runs exactly
//     once. The last 256 receipts are kept. A sequence whose receipt is forgotten, or that is below a sealed one, is
//     stale.
//   - s may be at most 256 above the highest answered one. A sequence further ahead is refused without a receipt, and
//     may be submitted again.
//   - Gaps are allowed, and may be filled as long as they are not stale. A player's commands run in the order of their
//     sequences, even if they arrive in another order or the input delay changes: a command's tick is now + input
//     delay, but not before that of a waiting lower sequence and not after that of a waiting higher one.
//   - A player that leaves has commanded up to the tick of its Left, and one that joins commands from the tick after
//     its Joined on.
//
//samestep:deterministic
package coordinator

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

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
	// InputDelay is the number of ticks from the last sealed one to the tick in which a command runs. 0 means 1; at most MaxInputDelay.
	InputDelay lockstep.Tick

	// MaxPerTick bounds the number of a player's commands in one tick; 0 means 64.
	MaxPerTick int

	// MaxBytesPerTick bounds the total size of their payloads, and so the memory of waiting commands; 0 means 64 KiB.
	MaxBytesPerTick int

	// Relay makes the Coordinator order and log commands without a referee: it writes only the first keyframe, and checks only their form.
	Relay bool

	// Referee sets the history and the observer of the referee.
	Referee lockstep.FollowerOptions

	// Frames returns the frames of the ticks from+1 to to, or nil if one of them is no longer kept: a live match keeps the latest for its
	// peers. If it is set and Referee keeps states, the referee re-simulates ticks when a player contradicts it, and corrects its own
	// mistakes: no player is blamed for a bit that flips in the referee's memory.
	Frames func(from, to lockstep.Tick) []lockstep.Frame
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
	o.InputDelay, o.MaxPerTick, o.MaxBytesPerTick = cmp.Or(o.InputDelay, 1), cmp.Or(o.MaxPerTick, 64), cmp.Or(o.MaxBytesPerTick, 64<<10)
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

func (c *Coordinator) append(record []byte) error {
	if err := c.log.Append(record); err != nil {
		return c.BreakOff(c.sealed, err)
	}
	return nil
}

// BreakOff ends the match without a last record because the log failed after a tick. It returns the first error that ends the match.
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

// AppendLast appends the last logged sequence of each player that has one, in ascending order of players, as a keyframe has them.
func (c *Coordinator) AppendLast(dst []record.LastSequence) []record.LastSequence {
	return c.enc.AppendLast(dst)
}

// LastLogged returns the last sequence of player p in the log, or 0.
func (c *Coordinator) LastLogged(p lockstep.Player) lockstep.Sequence { return c.enc.Last(p) }

// Referee returns the coordinator's own copy of the match, for reading, or nil in relay mode.
func (c *Coordinator) Referee() *lockstep.Follower { return c.referee }

// Submit takes a command of player p, whom the caller has authenticated, and answers it. An accepted one runs once, in the receipt's tick.
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
	}
	c.payloads.Reset()
	if err := c.payloads.Decode(cmd); errors.Is(err, record.ErrUnknownKind) {
		return lockstep.UnknownKind, fmt.Sprintf("got %d", cmd.Kind)
	} else if err != nil {
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

// lastState computes the state of the last sealed tick from the latest that is kept, or returns nil. A panic spoils the referee's own.
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
	frames := c.options.Frames(kept.Tick, c.sealed)
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

func (c *Coordinator) seated(p lockstep.Player) error {
	if c.err == nil && !c.Seated(p) {
		return fmt.Errorf("%w: player %d is not in the match", ErrSeat, p)
	}
	return c.err
}

// Join seats p, which can command from the tick after the returned one on. It is [ErrBusy] until a leave from the seat is sealed.
func (c *Coordinator) Join(p lockstep.Player) (lockstep.Tick, error) {
	if c.err != nil {
		return 0, c.err
	}
	if int(p) >= len(c.seats) {
		return 0, fmt.Errorf("%w: player %d joins a match of %d", ErrSeat, p, c.header.Settings.Players)
	}
	if c.seats[p].present {
		return 0, fmt.Errorf("%w: player %d has joined already", ErrSeat, p)
	}
	if left := c.seats[p].left; left > c.sealed {
		return 0, fmt.Errorf("%w: player %d is leaving at tick %d", ErrBusy, p, left)
	}
	t, err := c.soon(&lockstep.Joined{Player: p})
	if err == nil {
		c.seats[p].present, c.seats[p].away, c.seats[p].joined = true, false, t
		c.checks.players[p] = standing{} // a new player has none
	}
	return t, err
}

// Leave gives up the seat of p. Waiting commands still run before p leaves.
func (c *Coordinator) Leave(p lockstep.Player) (lockstep.Tick, error) {
	if err := c.seated(p); err != nil {
		return 0, err
	}
	t, err := c.issue(max(c.sealed+1, c.seats[p].last), &lockstep.Left{Player: p})
	if err != nil {
		return 0, err
	}
	c.seats[p].present, c.seats[p].left = false, t
	return t, c.decideComplete() // no check waits for p any more
}

// Lose tells the simulation that the connection of p is gone.
func (c *Coordinator) Lose(p lockstep.Player) (lockstep.Tick, error) {
	return c.goes(p, &lockstep.Lost{Player: p})
}

// Return tells the simulation that p, which was lost or taken over, is back.
func (c *Coordinator) Return(p lockstep.Player) (lockstep.Tick, error) {
	t, err := c.about(p, &lockstep.Joined{Player: p})
	if err == nil {
		c.seats[p].away = false
	}
	return t, err
}

// TakeOver tells the simulation that a bot plays for p until p returns.
func (c *Coordinator) TakeOver(p lockstep.Player) (lockstep.Tick, error) {
	return c.goes(p, &lockstep.TakenOver{Player: p})
}

func (c *Coordinator) goes(p lockstep.Player, value any) (lockstep.Tick, error) {
	t, err := c.about(p, value)
	if err != nil || c.seats[p].away {
		return t, err
	}
	c.seats[p].away = true
	return t, c.decideComplete() // no check waits for p any more
}

// Pause stops the match after the next tick, on behalf of p: Tick seals nothing more until Resume. It fails if the match is pausing.
func (c *Coordinator) Pause(p lockstep.Player) (lockstep.Tick, error) {
	if err := c.seated(p); err != nil {
		return 0, err
	}
	if c.paused || c.pausing {
		return 0, ErrPaused
	}
	t, err := c.soon(&lockstep.Paused{Player: p})
	c.pausing = err == nil
	return t, err
}

// Resume continues a paused match, or cancels the pause, on behalf of p. System may resume a match without players, which nobody can join.
func (c *Coordinator) Resume(p lockstep.Player) (lockstep.Tick, error) {
	if c.err == nil && !c.paused && !c.pausing {
		return 0, ErrNotPaused
	}
	if p != lockstep.System {
		if err := c.seated(p); err != nil {
			return 0, err
		}
	}
	t, err := c.soon(&lockstep.Resumed{Player: p})
	if err == nil {
		c.paused, c.pausing = false, false
	}
	return t, err
}

// Paused reports whether the match is paused: the pausing tick is sealed, and no Resume has come.
func (c *Coordinator) Paused() bool { return c.paused }

// SetSpeed makes the match run at a percentage of its tick rate, 10 to 1000. The Coordinator only logs it: its caller keeps the time.
func (c *Coordinator) SetSpeed(percent uint16) (lockstep.Tick, error) {
	if err := record.CheckSpeed(percent); err != nil {
		return 0, err
	}
	return c.soon(&lockstep.SpeedSet{Percent: percent})
}

// SetInputDelay sets the input delay of commands submitted from now on, 1 to [record.MaxInputDelay] ticks.
func (c *Coordinator) SetInputDelay(ticks lockstep.Tick) (lockstep.Tick, error) {
	if err := record.CheckInputDelay(ticks); err != nil {
		return 0, err
	}
	t, err := c.soon(&lockstep.InputDelaySet{Ticks: uint16(ticks)})
	if err == nil {
		c.options.InputDelay = ticks
	}
	return t, err
}

func (c *Coordinator) about(p lockstep.Player, value any) (lockstep.Tick, error) {
	if err := c.seated(p); err != nil {
		return 0, err
	}
	return c.soon(value)
}

func (c *Coordinator) soon(value any) (lockstep.Tick, error) { return c.issue(c.sealed+1, value) }

// Tick seals the next frame, advances the referee, and writes the log. It returns the sealed frame, which is valid
// until the next call, or nil while the match is paused. An error ends the match: the game panicked, or the log failed.
// If the rules end the match in the frame, Tick returns it and ends the log; the next call fails with [ErrEnded].
//
// The referee runs a frame before it is logged, so a frame that makes the game panic reaches no player. The log keeps it in a record of
// the panic, after the state before it and before the end.
func (c *Coordinator) Tick() (*lockstep.Frame, error) {
	if c.err != nil {
		return nil, c.err
	}
	if err := c.Conclude(); err != nil || c.err != nil { // a replaced referee may have computed an end
		return nil, cmp.Or(err, c.err)
	}
	if c.paused {
		return nil, nil
	}
	if c.sealed == record.MaxTick {
		return nil, c.fail(fmt.Errorf("lockstep: tick %d is the last that a match can have", c.sealed))
	}
	c.slots.release(c.sealed) // the caller no longer uses the previous frame
	f := c.seal()
	if c.referee != nil {
		if err := c.referee.Advance(f); err != nil {
			return nil, c.crashed(err, f.Commands...)
		}
	}
	if err := c.append(c.enc.Frame(f)); err != nil {
		return nil, err
	}
	c.sealed = f.Tick
	if err := c.check(); err != nil {
		return nil, err
	}
	return f, c.Conclude()
}

// seal puts the next tick's commands into canonical order. The frame is final.
func (c *Coordinator) seal() *lockstep.Frame {
	t := c.sealed + 1
	commands := c.slot(t).commands
	//samestep:allow sort Compare is zero only for the same command
	slices.SortFunc(commands, func(a, b lockstep.Command) int { return record.Compare(&a, &b) })
	for i := range commands {
		cmd := &commands[i]
		if cmd.Player != lockstep.System {
			c.seats[cmd.Player].sealed = cmd.Sequence
			continue
		}
		c.system++
		cmd.Sequence = c.system
	}
	c.paused, c.pausing = c.pausing, false
	c.frame = lockstep.Frame{Tick: t, Commands: commands}
	return &c.frame
}

// issue puts a command of System into the frame of tick t. Its sequence counts within the tick until seal replaces it.
func (c *Coordinator) issue(t lockstep.Tick, value any) (lockstep.Tick, error) {
	if c.err != nil {
		return 0, c.err
	}
	slot, room := c.slot(t), systemRoom
	if _, resumes := value.(*lockstep.Resumed); !resumes {
		room-- // reserved, so a paused match can always be resumed
	}
	n := slot.system
	if n >= room { // above room if a resume took the reserved place
		return 0, fmt.Errorf("%w: %d system commands in tick %d", ErrBusy, n, t)
	}
	kind, payload := c.payloads.EncodeSystem(value)
	slot.add(lockstep.Command{Tick: t, Player: lockstep.System, Sequence: lockstep.Sequence(n) + 1, Kind: kind, Payload: payload})
	return t, nil
}

// EndedByRules is the reason in the end record of a match that its rules ended.
const EndedByRules = "the rules ended the match"

// Conclude writes the last record if the rules ended the match in the last sealed tick, with the checksum of that tick before it. Tick
// calls it. The owner of a recovered Coordinator calls it too, because the crash may have been before that record.
func (c *Coordinator) Conclude() error {
	if c.err != nil || c.referee == nil {
		return c.err
	}
	sim := c.referee.Simulation()
	result, ended := sim.Ended()
	if !ended {
		return nil
	}
	if c.sealed%lockstep.Tick(c.header.Settings.CheckEvery) != 0 { // a checked tick has one
		if err := c.append(c.enc.Checksum(c.sealed, sim.Hash())); err != nil {
			return err
		}
	}
	if err := c.append(c.enc.EndByRules(EndedByRules, result)); err != nil {
		return err
	}
	c.err, c.byRules, c.result = ErrEnded, true, slices.Clone(result)
	return nil
}

// Result returns the canonical bytes of the result, and false unless the rules have ended the match.
func (c *Coordinator) Result() (result []byte, byRules bool) { return c.result, c.byRules }

func (c *Coordinator) keyframe(sim *lockstep.Simulation, last []record.LastSequence) error {
	defer c.enc.Release() // a server has many matches, and keyframes are rare
	state := sim.AppendState(nil)
	if len(state) > lockstep.MaxStateSize {
		return fmt.Errorf("lockstep: tick %d: got a state of %d bytes, want at most %d", sim.Tick(), len(state), lockstep.MaxStateSize)
	}
	c.stateBytes, c.stateTick = len(state), sim.Tick()
	return c.append(c.enc.Keyframe(sim.Tick(), sim.Hash(), last, state))
}

// Keyframe writes the state after the last sealed tick into the log, unless it is the last keyframe there. It needs a referee.
func (c *Coordinator) Keyframe() error {
	switch {
	case c.err != nil:
		return c.err
	case c.referee == nil:
		return errors.New("lockstep: relay mode has no state for a keyframe")
	case c.stateTick == c.sealed:
		return nil
	}
	c.last = c.enc.AppendLast(c.last[:0])
	if err := c.keyframe(c.referee.Simulation(), c.last); err != nil {
		return c.fail(err)
	}
	return nil
}

// StateBytes returns the size of the last keyframe in the log.
func (c *Coordinator) StateBytes() int { return c.stateBytes }

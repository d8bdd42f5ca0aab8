package coordinator

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Recovery makes the [Coordinator] that continues an interrupted match from the records that its log still has.
type Recovery struct {
	game     *lockstep.Game
	follower *lockstep.Follower
	from     lockstep.Tick // of the first keyframe that is simulated
	payloads *record.Payloads
	seats    []seat
	limits   []limit
	checks   checks
	delay    lockstep.Tick // from the log; 0 if it sets none
	paused   bool
	byRules  bool                  // the log ends with the end of the rules …
	result   []byte                // … and this result
	panicked []lockstep.Command    // with which the log ends, because the rules panicked on them
	wrong    *lockstep.DesyncError // the first checksum or keyframe that differs from the game's, unless a referee's event has withdrawn it
}

// NewRecovery returns a Recovery of a match of game g.
func NewRecovery(g *lockstep.Game) *Recovery {
	return &Recovery{game: g, follower: g.NewFollower(lockstep.FollowerOptions{}), payloads: g.NewPayloads()}
}

// SkipTo makes the Recovery trust the states before the keyframe of a tick, and simulate from there. Call it before the first record.
func (r *Recovery) SkipTo(keyframe lockstep.Tick) { r.from = keyframe }

func (r *Recovery) skips(rec *record.Record) bool {
	return r.follower.Simulation() == nil && rec.Kind != record.KindHeader && (rec.Kind != record.KindKeyframe || rec.Tick < r.from) && r.from > 0
}

// Follower returns the copy of the match that has followed the log so far, for reading.
func (r *Recovery) Follower() *lockstep.Follower { return r.follower }

// Apply takes the next record of the log. An error means that the match cannot continue: the record is out of place, or of another game.
// Apply also decodes the commands of [lockstep.System] in a frame; their values are valid until the next call.
func (r *Recovery) Apply(rec *record.Record) error {
	differs := (*lockstep.DesyncError)(nil)
	if r.skips(rec) || rec.Kind == record.KindPanic {
		// Below it counts as if it agreed.
	} else if err := r.follower.Apply(rec); errors.As(err, &differs) {
		r.wrong = cmp.Or(r.wrong, differs)
	} else if err != nil {
		return err
	}
	if rec.Ticks() > 0 {
		r.panicked = nil
	}
	switch rec.Kind {
	case record.KindPanic:
		if rec.Panic.Where == record.InStep { // else the command was not accepted
			r.panicked = rec.Panic.Frame.Clone().Commands
		}
	case record.KindHeader:
		n := rec.Header.Settings.Players
		r.seats, r.checks = make([]seat, n), newChecks(n)
		r.limits = newLimits(r.game, &rec.Header.Settings)
	case record.KindKeyframe:
		for _, l := range rec.Keyframe.Last { // those of the first keyframe come from another log
			if int(l.Player) < len(r.seats) {
				s := &r.seats[l.Player]
				s.sealed, s.high = max(s.sealed, l.Sequence), max(s.high, l.Sequence)
			}
		}
	case record.KindChecksum:
		k := r.checks.of(rec.Tick, lockstep.Tick(r.follower.Header().Settings.CheckEvery))
		k.begin(rec.Tick)
		k.Status, k.Hash, k.logged = CheckAgreed, rec.Hash, rec.Hash
		if differs != nil {
			k.Hash = differs.Got
		}
	case record.KindEvent:
		if rec.Event == record.EventReferee {
			r.wrong = nil
		}
	case record.KindEnd:
		r.byRules, r.result = rec.ByRules, slices.Clone(rec.Result)
	}
	return r.frame(&rec.Frame)
}

func (r *Recovery) frame(f *lockstep.Frame) error {
	r.payloads.Reset()
	for i := range f.Commands {
		c := &f.Commands[i]
		if c.Player == lockstep.System {
			if err := r.payloads.Decode(c); err != nil {
				return fmt.Errorf("lockstep: tick %d: %w", f.Tick, errors.Unwrap(err))
			}
			if err := r.system(f.Tick, c.Value); err != nil {
				return err
			}
			continue
		}
		if int(c.Player) >= len(r.seats) {
			return fmt.Errorf("%w: tick %d has a command of player %d", ErrSeat, f.Tick, c.Player)
		}
		s := &r.seats[c.Player]
		s.remember(lockstep.Receipt{Sequence: c.Sequence, Tick: f.Tick})
		s.sealed, s.last = c.Sequence, f.Tick
		s.used(r.limits, c.Kind, f.Tick)
	}
	return nil
}

func (r *Recovery) system(t lockstep.Tick, value any) error {
	switch v := value.(type) {
	case *lockstep.Paused:
		r.paused = true
		return nil
	case *lockstep.Resumed:
		r.paused = false
		return nil
	case *lockstep.InputDelaySet:
		r.delay = lockstep.Tick(v.Ticks)
	}
	p, ok := record.About(value)
	switch {
	case !ok:
		return nil
	case int(p) >= len(r.seats):
		return fmt.Errorf("%w: tick %d refers to player %d", ErrSeat, t, p)
	}
	s := &r.seats[p]
	if _, left := value.(*lockstep.Left); left {
		s.left, s.present = t, false
		return nil
	}
	if _, joined := value.(*lockstep.Joined); joined && !s.present {
		s.joined = t
	}
	s.present = true
	return nil
}

// Check returns an error if no Coordinator can continue the match: there is no state, the match is over, but not by its
// rules, or the game computes other checksums or another end than the log has, which is a [*lockstep.DesyncError].
func (r *Recovery) Check() error {
	switch {
	case r.follower.Simulation() == nil:
		return fmt.Errorf("lockstep: resume: %w: no state", record.ErrOutOfPlace)
	case r.follower.Ended() && !r.byRules:
		return fmt.Errorf("lockstep: resume: %w", ErrEnded)
	case r.wrong != nil:
		return fmt.Errorf("lockstep: resume: %w", r.wrong)
	}
	return nil
}

// Coordinator returns the Coordinator that continues after the last tick of the log, which d has read. It appends to log, which already
// has the earlier records. The players' commands on which the rules panicked run in the next tick. Every player whose leave is not in
// the log is present. If the rules have ended the log, so is the match. See [Recovery.Check] for the errors.
func (r *Recovery) Coordinator(d *record.Decoder, log lockstep.Log, o Options) (*Coordinator, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if o.Relay {
		return nil, errors.New("lockstep: resume: a match without a referee cannot be resumed")
	}
	h := r.follower.Header()
	o.InputDelay = max(o.InputDelay, 1)
	if r.delay > 0 {
		o.InputDelay = r.delay
	}
	c := &Coordinator{
		game: r.game, header: h, options: o, log: log,
		payloads: r.payloads, seats: r.seats, limits: r.limits, checks: r.checks,
		sealed: r.follower.Tick(), system: d.Last(lockstep.System), paused: r.paused,
		referee: r.game.NewFollowerAt(h, r.follower.Simulation(), o.Referee),

		mayResimulate: math.MaxInt,
	}
	c.enc.Continue(d)
	c.acceptAgain(r.panicked)
	if r.byRules {
		c.err, c.byRules, c.result = ErrEnded, true, r.result
	}
	return c, nil
}

// acceptAgain puts the players' commands on which the rules panicked into the next frame: they were told that these run then.
func (c *Coordinator) acceptAgain(commands []lockstep.Command) {
	for i := range commands {
		cmd := &commands[i]
		if cmd.Player == lockstep.System {
			continue
		}
		s := &c.seats[cmd.Player]
		s.remember(lockstep.Receipt{Sequence: cmd.Sequence, Tick: cmd.Tick})
		s.used(c.limits, cmd.Kind, cmd.Tick)
		s.last = cmd.Tick
		c.slot(cmd.Tick).add(*cmd)
	}
}

// CheckAgain logs the checksum of the last sealed tick if that is a checked tick whose checksum was lost with the end of the log.
func (c *Coordinator) CheckAgain() error {
	t := c.sealed
	if t == 0 || t%lockstep.Tick(c.header.Settings.CheckEvery) != 0 {
		return nil
	}
	if _, ok := c.Check(t); ok {
		return nil
	}
	return c.check()
}

// differsFromOrigin are the fields of two headers in which a match and the one in whose state it begins may differ.
var differsFromOrigin = map[string]bool{"protocol": true, "match": true, "platform": true, "setting relay": true}

// CheckOrigin returns an error that names the first field in which the header of a new match differs from that of the
// match in whose state it shall begin. Only the match's id, its recorder and its referee may differ.
func CheckOrigin(h, origin *lockstep.Header) error {
	for _, d := range record.DiffHeaders(origin, h) {
		if !differsFromOrigin[d.Field] {
			return fmt.Errorf("lockstep: the match differs from the one in whose state it begins: %s: got %s, want %s", d.Field, d.B, d.A)
		}
	}
	return nil
}

// Begin returns the Coordinator of a new match with header h, which begins in the state after the last tick of the log, which d has read.
// Ticks and sequences go on, and those who are in the match stay in it. It writes the new log from its header on, and its next tick
// resumes a match that is paused and has the new input delay. See [Recovery.Check] and [CheckOrigin] for the errors.
func (r *Recovery) Begin(d *record.Decoder, h *lockstep.Header, log lockstep.Log, o Options) (*Coordinator, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	origin := r.follower.Simulation()
	if _, ended := origin.Ended(); ended || r.follower.Ended() {
		return nil, fmt.Errorf("lockstep: begin after tick %d: %w: want an earlier tick", origin.Tick(), ErrEnded)
	}
	if err := CheckOrigin(h, r.follower.Header()); err != nil {
		return nil, err
	}
	c, err := newCoordinator(r.game, h, log, o)
	if err != nil {
		return nil, err
	}
	sim, err := r.game.AwaitState(c.header)
	if err != nil {
		return nil, err
	}
	if err := sim.Restore(origin.Tick(), origin.AppendState(nil)); err != nil {
		return nil, err
	}
	if err := c.begin(sim, d.AppendLast(nil)); err != nil {
		return nil, err
	}
	c.system, c.paused = d.Last(lockstep.System), r.paused
	for i := range c.seats {
		last := d.Last(lockstep.Player(i))
		c.seats[i].present, c.seats[i].sealed, c.seats[i].high = r.seats[i].present, last, last
	}
	if c.paused {
		if _, err := c.Resume(lockstep.System); err != nil {
			return nil, err
		}
	}
	if r.delay > 0 && r.delay != c.options.InputDelay {
		if _, err := c.SetInputDelay(c.options.InputDelay); err != nil {
			return nil, err
		}
	}
	return c, nil
}

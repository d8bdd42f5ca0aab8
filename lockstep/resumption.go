package lockstep

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// TopicResumed is the topic of the note that System writes into the log of a
// match that was interrupted, where it goes on: the ticks that somebody saw
// after that place are lost.
const TopicResumed = "resumed"

// A Resumption makes the [Host] that goes on with a match that was interrupted.
// It is a [Log]: it is given what is left of the match's log, from the header on.
//
// What was never in the log is lost: the connections and their sessions, which
// come back with their tokens, and the commands that no frame had yet, which the
// clients send again. Every player is taken for lost, and has the time of
// HostOptions.Grace to come back; the tokens must say which seat is whose.
type Resumption struct {
	game     *Game
	follower *Follower
	payloads *Payloads
	dec      Decoder
	header   []byte   // the record
	position Position // of the next record
	seats    []seat
	hosted   []hostSeat
	checks   checks
	noted    int // bytes of notes
	speed    uint16
	delay    Tick // as the log says; 0 if it does not
	paused   bool
	wrong    *DesyncError // the first checksum or keyframe that is not what the game computes, if the referee has not said that it was wrong
}

// NewResumption returns a Resumption of a match of game g.
func NewResumption(g *Game) *Resumption {
	return &Resumption{game: g, follower: g.NewFollower(FollowerOptions{}), payloads: g.NewPayloads(), speed: 100}
}

// Tick returns the last tick that the log had so far.
func (r *Resumption) Tick() Tick { return r.follower.Tick() }

// Append takes one record. An error means that the match cannot go on with it:
// it is not well-formed, or of another game.
func (r *Resumption) Append(record []byte) error {
	rec, rest, err := r.dec.Decode(record)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("lockstep: after tick %d: %w: %d bytes after a record", r.Tick(), ErrMalformed, len(rest))
	}
	differs := (*DesyncError)(nil)
	if err := r.follower.Apply(rec); errors.As(err, &differs) {
		r.wrong = cmp.Or(r.wrong, differs)
	} else if err != nil {
		return err
	}
	switch rec.Kind {
	case RecordHeader:
		r.header = slices.Clone(record)
		n := rec.Header.Settings.Players
		r.seats, r.hosted = make([]seat, n), make([]hostSeat, n)
		r.checks = newChecks(n)
		r.position = 1
		return nil
	case RecordKeyframe:
		return nil
	case RecordFrame:
		err = r.frame(&rec.Frame)
	case RecordChecksum:
		k := r.checks.of(rec.Tick, r.every())
		k.begin(rec.Tick)
		k.verdict, k.root, k.logged = agreed, rec.Root, rec.Root
		if differs != nil {
			k.root = differs.Got
		}
	case RecordNote:
		if rec.Topic == TopicReferee && rec.Player == System {
			r.wrong = nil
		}
		if rec.Topic == TopicName && int(rec.Player) < len(r.hosted) {
			s := &r.hosted[rec.Player]
			s.name, s.noted = rec.Text, rec.Text
		}
		r.noted += noteSize(rec.Text)
	}
	r.position += Position(max(1, rec.Empty)) // live, each empty tick is a record
	return err
}

func (r *Resumption) every() Tick { return Tick(r.follower.header.Settings.CheckEvery) }

// frame takes what a frame says of the seats.
func (r *Resumption) frame(f *Frame) error {
	for i := range f.Commands {
		c := f.Commands[i]
		if c.Player == System {
			r.payloads.Reset()
			if err := r.payloads.decode(&c); err != nil {
				return fmt.Errorf("lockstep: tick %d: %w", f.Tick, err)
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
		s.remember(Receipt{Sequence: c.Sequence, Tick: f.Tick})
		s.sealed, s.last = c.Sequence, f.Tick
	}
	return nil
}

// system takes a command of System.
func (r *Resumption) system(t Tick, value any) error {
	about, told := Player(0), vacant
	switch v := value.(type) {
	case *Joined:
		about, told = v.Player, here
	case *Left:
		about, told = v.Player, vacant
	case *Lost:
		about, told = v.Player, away
	case *TakenOver:
		about, told = v.Player, takenOver
	case *Paused:
		r.paused = true
		return nil
	case *Resumed:
		r.paused = false
		return nil
	case *SpeedSet:
		r.speed = v.Percent
		return nil
	case *InputDelaySet:
		r.delay = Tick(v.Ticks)
		return nil
	}
	if int(about) >= len(r.seats) {
		return fmt.Errorf("%w: tick %d speaks of player %d", ErrSeat, t, about)
	}
	s, h := &r.seats[about], &r.hosted[about]
	if !s.present && told == here {
		s.joined = t
	}
	if h.told = told; told == vacant {
		s.left = t
		*h = hostSeat{noted: h.noted}
	}
	s.present = told != vacant
	return nil
}

// Host returns a Host that goes on after the last tick of the log. Its records
// go to log, which already has those that Append was given. A [*DesyncError] says
// that the game computes other checksums than the log has.
func (r *Resumption) Host(now Time, log Log, o HostOptions) (*Host, error) {
	switch {
	case r.follower.sim == nil:
		return nil, fmt.Errorf("lockstep: resume: %w: no state", ErrOutOfPlace)
	case r.follower.ended:
		return nil, fmt.Errorf("lockstep: resume: %w", ErrEnded)
	case r.wrong != nil:
		return nil, fmt.Errorf("lockstep: resume: %w", r.wrong)
	case o.Relay:
		return nil, errors.New("lockstep: resume: a match without a referee cannot be resumed")
	}
	x, err := blankHost(r.game, r.follower.header, o)
	if err != nil {
		return nil, err
	}
	x.now, x.headerRecord, x.notes.bytes = now, r.header, r.noted
	x.ring.begin(r.position)
	x.c = r.coordinator(x.coordinatorOptions(), Tee(log, (*hostLog)(x)))
	sim := r.follower.sim
	x.shared = &keyframe{
		bytes: x.joins.encode(r.header, x.header, sim.tick, sim.Root(), r.dec.AppendLast(nil), sim.AppendState(nil)),
		tick:  sim.tick, position: r.position, made: now,
	}
	x.curtain.raise(&x.options, x.shared, r.every())
	x.clock.percent, x.pace.base = int64(r.speed), r.speed
	copy(x.seats, r.hosted)
	for i := range x.seats {
		s := &x.seats[i]
		if s.want = s.told; s.told == here {
			s.want = away
		}
		s.lostAt, s.role = now, Seated
	}
	x.unsettled = true
	x.wakeAt(now)
	if err := x.c.Note(System, TopicResumed, fmt.Sprintf("after tick %d", sim.tick)); err != nil {
		return nil, err
	}
	if t := sim.tick; t > 0 && t%r.every() == 0 && x.c.checkOf(t).tick != t { // it was lost with what is behind the frame
		err = x.c.check()
	}
	return x, err
}

// coordinator returns the Coordinator that goes on.
func (r *Resumption) coordinator(o CoordinatorOptions, log Log) *Coordinator {
	h := r.follower.header
	o.InputDelay = max(o.InputDelay, 1)
	if r.delay > 0 {
		o.InputDelay = r.delay
	}
	c := &Coordinator{
		game: r.game, header: h, options: o, log: log,
		payloads: r.payloads, seats: r.seats, checks: r.checks,
		sealed: r.Tick(), system: r.dec.last[System], paused: r.paused,
		referee: newFollowerAt(r.game, h, r.follower.sim, o.Referee),
	}
	c.enc.stream = r.dec.stream
	return c
}

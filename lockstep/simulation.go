package lockstep

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// Errors of frames that a simulation cannot apply.
var (
	// ErrGap reports a frame beyond the next tick.
	ErrGap = errors.New("frames are missing")

	// ErrRepeat reports a frame of a tick that was already simulated.
	ErrRepeat = errors.New("frame was applied already")
)

// A Simulation is one copy of a match's state, and advances it. It belongs to one goroutine.
type Simulation struct {
	game     *Game
	header   *Header
	world    world
	tick     Tick
	turn     Turn
	payloads *record.Payloads
	observer func(Tick, any)
	onDraw   func(Tick, Draw)
	stepping func(begins bool) // of a Follower's options, or nil
	scratch  checksum.Sum
	broken   error // why the state is unusable
	views    func(world, config any, viewer Viewer, dst []byte) ([]byte, error)
	glimpses glimpses // of this state
}

// NewSimulation returns the state at tick 0 of the match with header h. The error is an [*IdentityError] for another
// game's match, a [*record.AssetError] without the content of an asset, a [*PanicError], or the game's refusal.
func (g *Game) NewSimulation(h *Header) (*Simulation, error) {
	s, err := g.created(h)
	if err != nil {
		return nil, err
	}
	return s, s.derive()
}

// created returns a simulation with the state that New makes.
func (g *Game) created(h *Header) (*Simulation, error) {
	s, err := g.AwaitState(h)
	if err != nil {
		return nil, err
	}
	if err := s.guard("New", func() error { return s.world.create(reaching(&h.Settings)) }); err != nil {
		return nil, err
	}
	return s, nil
}

// reaching returns the settings that reach the simulation, and zeros for how the match is checked and played live.
func reaching(s *Settings) Settings {
	return Settings{Seed: s.Seed, Players: s.Players, TickMicros: s.TickMicros}
}

// derive rebuilds the derived fields.
func (s *Simulation) derive() error {
	return s.guard("Derive", func() error { s.world.derive(); return nil })
}

// AwaitState returns a simulation of the match with header h that has no state until it is restored or copied.
func (g *Game) AwaitState(h *Header) (*Simulation, error) {
	if err := g.CheckIdentity(h); err != nil {
		return nil, err
	}
	if err := h.Settings.Check(); err != nil {
		return nil, err
	}
	s := &Simulation{game: g, header: h, payloads: g.NewPayloads(), turn: Turn{result: g.result}}
	if err := s.guard("New", func() (err error) { s.world, err = g.newWorld(h); return err }); err != nil {
		return nil, err
	}
	contents, err := g.contents(h.Config)
	if err == nil && len(contents) > 0 {
		err = s.guard("Load", func() error { return s.world.load(contents) })
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Tick returns the tick whose state this is.
func (s *Simulation) Tick() Tick { return s.tick }

// Header returns the header of the match.
func (s *Simulation) Header() *Header { return s.header }

// Observe registers f for every event of future ticks. It is called after each tick. Nil disables it.
func (s *Simulation) Observe(f func(Tick, any)) {
	s.observer, s.turn.observed = f, f != nil
}

// ObserveDraws registers f for every [Draw] that the game reports. It is called after each tick. Nil disables it.
func (s *Simulation) ObserveDraws(f func(Tick, Draw)) { s.onDraw, s.turn.drawing = f, f != nil }

// ObservePhases registers f for every phase that Step marks with [Turn.Phase]. It is called during the step, with the sum of
// the state at the beginning of the phase, which is valid until f returns. Each call sums the whole state. Nil disables it.
func (s *Simulation) ObservePhases(f func(t Tick, phase string, sum *checksum.Sum)) {
	if f == nil {
		s.turn.phased = nil
		return
	}
	var own checksum.Sum
	s.turn.phased = func(phase string, sum *checksum.Sum) {
		if sum == nil {
			sum = &own
			s.world.sum(sum)
		}
		f(s.turn.Tick, phase, sum)
	}
}

// Step advances the state by one tick. It returns [ErrGap] or [ErrRepeat] if f is not the next frame, and a
// [*PanicError] if the game's Step panics, or its Validate of a frame that is Asked. After a panic the state is unusable.
func (s *Simulation) Step(f *Frame) error { return s.run(f, true) }

// StepInOrderGiven is Step for a frame with its commands in any order, in which they run. No log has such a frame. It
// serves to find out what a faulty copy may have done.
func (s *Simulation) StepInOrderGiven(f *Frame) error { return s.run(f, false) }

func (s *Simulation) run(f *Frame, ordered bool) error {
	switch {
	case s.broken != nil:
		return s.broken
	case f.Tick > s.tick+1:
		return fmt.Errorf("lockstep: got frame %d, want %d: %w", f.Tick, s.tick+1, ErrGap)
	case f.Tick <= s.tick:
		return fmt.Errorf("lockstep: got frame %d, want %d: %w", f.Tick, s.tick+1, ErrRepeat)
	}
	if err := s.prepare(f, ordered); err != nil {
		return err
	}
	if f.Asked {
		if err := s.askAgain(); err != nil {
			return err
		}
	}
	if s.stepping != nil {
		//samestep:allow unseen an observer, from which nothing comes back
		s.stepping(true)
	}
	err := s.guardStep()
	if s.stepping != nil {
		//samestep:allow unseen an observer, from which nothing comes back
		s.stepping(false)
	}
	if err != nil {
		return err
	}
	s.tick = f.Tick
	if s.observer != nil {
		for _, e := range s.turn.events {
			//samestep:allow unseen an observer, from which nothing comes back
			s.observer(s.tick, e)
		}
	}
	for _, d := range s.turn.draws {
		//samestep:allow unseen an observer, from which nothing comes back
		s.onDraw(s.tick, d)
	}
	return nil
}

// prepare fills the turn with the commands of a frame and their values.
func (s *Simulation) prepare(f *Frame, ordered bool) error {
	s.payloads.Reset()
	s.glimpses.forget()
	s.turn.Tick = f.Tick
	s.turn.noEnd()
	s.turn.phase = ""
	clear(s.turn.events) // for the garbage collector
	s.turn.events, s.turn.draws = s.turn.events[:0], s.turn.draws[:0]
	s.turn.Commands = append(s.turn.Commands[:0], f.Commands...)
	for i := range s.turn.Commands {
		c := &s.turn.Commands[i]
		if c.Tick != f.Tick || ordered && i > 0 && record.Compare(&f.Commands[i-1], c) >= 0 {
			return fmt.Errorf("lockstep: frame %d: command %d of player %d: %w: not in canonical order", f.Tick, c.Sequence, c.Player, record.ErrMalformed)
		}
		if err := s.payloads.Decode(c); err != nil {
			return fmt.Errorf("lockstep: frame %d: command %d of player %d: %w", f.Tick, c.Sequence, c.Player, errors.Unwrap(err))
		}
	}
	return nil
}

// guardStep runs the game's Step. It is guard without a closure, which would allocate each tick.
func (s *Simulation) guardStep() (err error) {
	defer s.recovered(record.InStep, &err)
	s.world.step(&s.turn)
	return nil
}

// guard runs the game's code and turns a panic into a PanicError.
func (s *Simulation) guard(where string, f func() error) (err error) {
	defer s.recovered(where, &err)
	return f()
}

// recovered is deferred around the game's code.
func (s *Simulation) recovered(where string, err *error) {
	if v := recover(); v != nil {
		t := s.tick
		switch where {
		case record.InStep:
			t = s.turn.Tick
		case record.InValidate:
			t++
		}
		s.broken = panicked(t, where, v)
		*err = s.broken
	}
}

// Validate asks the game whether a decoded command is allowed in this state, as a coordinator does. The
// error is the game's refusal. Rules with views are asked by what the command's player may see, see [View].
func (s *Simulation) Validate(c *Command) (err error) {
	if s.broken != nil {
		return s.broken
	}
	defer s.recovered(record.InValidate, &err)
	if codec := s.game.view; codec != nil && codec.refuse != nil && c.Player != System {
		if view := s.glimpses.of(s.ViewerOf(c.Player), codec, s.AppendView); view != nil {
			return codec.refuse(view, c)
		}
		return nil
	}
	return s.world.validate(c)
}

// askAgain asks the rules about the commands of the turn. Only a panic is an error.
func (s *Simulation) askAgain() error {
	for i := range s.turn.Commands {
		fault := (*PanicError)(nil)
		if err := s.Validate(&s.turn.Commands[i]); errors.As(err, &fault) {
			return fault
		}
	}
	return nil
}

// Ended reports whether the rules ended the match in the tick of this state, and returns the canonical bytes of the
// result: none without a result. They are valid until the next tick. A restored state does not tell.
func (s *Simulation) Ended() (result []byte, ended bool) {
	if !s.turn.ended {
		return nil, false
	}
	return s.turn.ending, true
}

// AppendState appends the canonical bytes of the state. It appends nothing if rules that run elsewhere fail to give them; then
// the state is unusable, and the next Step says so.
func (s *Simulation) AppendState(dst []byte) (out []byte) {
	var err error
	out = dst
	defer s.recovered("Save", &err)
	return s.world.append(dst)
}

// AppendConfig appends the canonical bytes of the match's configuration. They are those of the header unless the rules have
// changed the configuration, which is a mistake.
func (s *Simulation) AppendConfig(dst []byte) []byte { return s.world.appendConfig(dst) }

// Restore sets the state to that of tick t with the canonical bytes b.
func (s *Simulation) Restore(t Tick, b []byte) error {
	if err := s.guard("Derive", func() error { return s.world.restore(t, b) }); err != nil {
		return fmt.Errorf("lockstep: state of tick %d: %w", t, err)
	}
	s.tick, s.broken = t, nil
	s.glimpses.forget()
	s.turn.noEnd()
	return s.derive()
}

// CopyFrom sets the state to that of o, a simulation of the same game. The two share no memory.
func (s *Simulation) CopyFrom(o *Simulation) error {
	if o.broken != nil {
		return o.broken
	}
	if err := s.guard("Derive", func() error { s.world.copyFrom(o.world); return nil }); err != nil {
		return err
	}
	s.tick, s.broken = o.tick, nil
	s.glimpses.forget()
	s.turn.ended, s.turn.ending = o.turn.ended, append(s.turn.ending[:0], o.turn.ending...)
	return s.derive()
}

// Sum sets dst to the checksum of the state. It leaves dst unchanged if rules that run elsewhere fail, see [Simulation.AppendState].
func (s *Simulation) Sum(dst *checksum.Sum) {
	var err error
	defer s.recovered("Save", &err)
	s.world.sum(dst)
}

// Hash returns the state hash.
func (s *Simulation) Hash() uint64 {
	s.Sum(&s.scratch)
	return s.scratch.Hash
}

// AnyWorld returns a pointer to the state, for reading with reflection. See [World].
func (s *Simulation) AnyWorld() any { return s.world.state() }

// World returns the state of a simulation, for reading. S is the state type of the game's [Rules]. World panics for any
// other type.
func World[S any](s *Simulation) *S { return s.world.state().(*S) }

// AppendView appends the canonical bytes of what a viewer may see. The error is the game's refusal of the viewer, or a
// [*PanicError], after which the state is as usable as before.
func (s *Simulation) AppendView(dst []byte, viewer Viewer) (out []byte, err error) {
	if s.broken != nil {
		return dst, s.broken
	}
	if s.game.view == nil {
		return dst, fmt.Errorf("lockstep: the rules of %s have no views", s.game.name)
	}
	if s.views == nil {
		s.views = s.game.view.maker()
	}
	defer func() {
		if v := recover(); v != nil {
			out, err = dst, panicked(s.tick, "View", v)
		}
	}()
	//samestep:allow unseen a game is checked where it gives its functions to Rules
	out, err = s.views(s.world.state(), s.world.settings(), viewer, dst)
	if err != nil {
		return dst, fmt.Errorf("lockstep: %s: view for %v: %w", s.game.name, viewer, err)
	}
	return out, nil
}

// ViewerOf returns whose view a player gets: what the rules name, or the player. After a panic of the rules it is the player.
func (s *Simulation) ViewerOf(p Player) (v Viewer) {
	own := Viewer{As: AsPlayer, Number: uint8(p)}
	if s.broken != nil {
		return own
	}
	defer func() {
		if recover() != nil {
			v = own
		}
	}()
	return s.world.viewer(p)
}

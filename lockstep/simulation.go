package lockstep

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// ErrGap reports a frame that is not that of the next tick.
var ErrGap = errors.New("not the next frame")

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
	scratch  checksum.Sum
	broken   error // why the state is unusable
	views    func(world, config any, viewer Viewer, dst []byte) ([]byte, error)
	glimpses glimpses // of this state
	restores int      // how often the state was replaced
	began    Tick     // of the state that was restored or copied last
}

// A Bot plays one seat: it returns its commands in a state, which it only reads, as pointers that are valid until the next call.
type Bot = func(s *Simulation) []any

func (s *Simulation) derive() error {
	return s.guard("Derive", func() error { s.world.derive(); return nil })
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

// Step advances the state by one tick. It returns [ErrGap] if f is not the next frame, and a
// [*PanicError] if the game's Step panics, or its Validate of a frame that is Asked. After a panic the state is unusable.
func (s *Simulation) Step(f *Frame) error { return s.run(f, true) }

// StepInOrderGiven is Step for a frame with its commands in any order, to find out what a faulty copy may have done. No log has one.
func (s *Simulation) StepInOrderGiven(f *Frame) error { return s.run(f, false) }

func (s *Simulation) run(f *Frame, ordered bool) error {
	switch {
	case s.broken != nil:
		return s.broken
	case f.Tick != s.tick+1:
		return fmt.Errorf("lockstep: got frame %d, want %d: %w", f.Tick, s.tick+1, ErrGap)
	}
	if err := s.prepare(f, ordered); err != nil {
		return err
	}
	if f.Asked {
		if err := s.askAgain(); err != nil {
			return err
		}
	}
	if s.turn.stepping != nil {
		//samestep:allow unseen an observer, from which nothing comes back
		s.turn.stepping(&s.turn, "", false)
	}
	err := s.guardStep()
	if s.turn.stepping != nil {
		//samestep:allow unseen an observer, from which nothing comes back
		s.turn.stepping(&s.turn, "", true)
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

func (s *Simulation) prepare(f *Frame, ordered bool) error {
	s.payloads.Reset()
	s.glimpses.forget()
	s.turn.Tick = f.Tick
	s.turn.noEnd()
	s.turn.forgetRefusals()
	s.turn.phase = ""
	clear(s.turn.events) // for the garbage collector
	s.turn.events, s.turn.draws = s.turn.events[:0], s.turn.draws[:0]
	s.turn.Commands = append(s.turn.Commands[:0], f.Commands...)
	for i := range s.turn.Commands {
		c := &s.turn.Commands[i]
		if c.Tick != f.Tick || ordered && i > 0 && record.Compare(&f.Commands[i-1], c) >= 0 {
			return fmt.Errorf("lockstep: frame %d: command %d of %s: %w: not in canonical order", f.Tick, c.Sequence, c.Player.Name(), record.ErrMalformed)
		}
		if err := s.payloads.Decode(c); err != nil {
			return fmt.Errorf("lockstep: frame %d: command %d of %s: %w", f.Tick, c.Sequence, c.Player.Name(), errors.Unwrap(err))
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

func (s *Simulation) guard(where string, f func() error) (err error) {
	defer s.recovered(where, &err)
	return f()
}

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

// Validate asks the game whether a decoded command is allowed in this state. The error is the game's refusal. See [View], too.
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

// Refused returns the reason for which the rules refused a command in the tick of this state, see [Turn.Refuse], and false if they did not.
// A restored or copied state does not tell.
func (s *Simulation) Refused(c *Command) (reason string, refused bool) {
	if i, refused := s.turn.refusal(c); refused && c.Tick == s.tick {
		return s.turn.refusals[i].reason, true
	}
	return "", false
}

// AppendState appends the canonical bytes of the state: none if rules elsewhere fail to give them, after which the state is unusable.
func (s *Simulation) AppendState(dst []byte) (out []byte) {
	var err error
	out = dst
	defer s.recovered("Save", &err)
	return s.world.append(dst)
}

// AppendConfig appends the canonical bytes of the configuration: those of the header, unless the rules have changed it by mistake.
func (s *Simulation) AppendConfig(dst []byte) []byte { return s.world.appendConfig(dst) }

// Restore sets the state to that of tick t with the canonical bytes b.
func (s *Simulation) Restore(t Tick, b []byte) error {
	if err := s.guard("Derive", func() error { return s.world.restore(t, b) }); err != nil {
		return fmt.Errorf("lockstep: state of tick %d: %w", t, err)
	}
	s.tick, s.broken, s.began = t, nil, t
	s.restores++
	s.glimpses.forget()
	s.turn.noEnd()
	s.turn.forgetRefusals()
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
	s.tick, s.broken, s.began = o.tick, nil, o.tick
	s.restores++
	s.glimpses.forget()
	s.turn.forgetRefusals()
	s.turn.ended, s.turn.ending = o.turn.ended, append(s.turn.ending[:0], o.turn.ending...)
	return s.derive()
}

// Sum sets dst to the checksum of the state. It leaves dst unchanged if rules that run elsewhere fail, see [Simulation.AppendState].
func (s *Simulation) Sum(dst *checksum.Sum) {
	var err error
	defer s.recovered("Save", &err)
	s.world.sum(dst)
}

// prints appends the prints of the state's sections, and returns what they cost in bytes of a state. It returns none if rules that run
// elsewhere fail.
func (s *Simulation) prints(dst []uint64) (out []uint64, costBytes int) {
	if s.broken != nil {
		return nil, 0
	}
	//samestep:allow memory a record must not end a match: the next check meets the fault again
	defer func() { _ = recover() }()
	return s.world.prints(dst)
}

// Hash returns the state hash.
func (s *Simulation) Hash() uint64 {
	s.Sum(&s.scratch)
	return s.scratch.Hash
}

// AnyWorld returns a pointer to the state, for reading with reflection. See [World].
func (s *Simulation) AnyWorld() any { return s.world.state() }

// World returns the state of a simulation, for reading. S is the state type of the game's [Rules]. World panics for any other type.
func World[S any](s *Simulation) *S { return s.world.state().(*S) }

// AppendView appends the canonical bytes of what a viewer may see. The error is the game's refusal of the viewer, or a [*PanicError].
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

type world interface {
	load(contents [][]byte) error
	create(s Settings) error
	derive()
	step(t *Turn)
	validate(c *Command) error
	append(dst []byte) []byte
	appendConfig(dst []byte) []byte
	restore(t Tick, b []byte) error
	copyFrom(w world)
	sum(dst *checksum.Sum)
	prints(dst []uint64) ([]uint64, int)
	state() any
	settings() any // the configuration
	viewer(p Player) Viewer
	close() // says that nobody uses the world any more
}

// A ConfigError is the refusal of a match's players or configuration by the game's New, by its Load, or because of its list of assets.
type ConfigError struct {
	Game string
	Err  error // of New or Load, or a *record.AssetError
}

// Error names the game once: its own error may begin with the name, too.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("lockstep: %s: %s", e.Game, strings.TrimPrefix(e.Err.Error(), e.Game+": "))
}

func (e *ConfigError) Unwrap() error { return e.Err }

type worldOf[S, C any] struct {
	rules       *Rules[S, C]
	codec       *state.Codec[S]
	configCodec *state.Codec[C]
	config      C
	s           S
}

func (w *worldOf[S, C]) load(contents [][]byte) error {
	//samestep:allow unseen a game is checked where it gives its functions to Rules
	if err := w.rules.Load(&w.config, contents); err != nil {
		return &ConfigError{w.rules.Name, err}
	}
	return nil
}

func (w *worldOf[S, C]) create(settings Settings) error {
	//samestep:allow unseen a game is checked where it gives its functions to Rules
	if err := w.rules.New(&w.s, &settings, &w.config); err != nil {
		return &ConfigError{w.rules.Name, err}
	}
	return nil
}

func (w *worldOf[S, C]) derive() {
	if w.rules.Derive != nil {
		//samestep:allow unseen a game is checked where it gives its functions to Rules
		w.rules.Derive(&w.s, &w.config)
	}
}

//samestep:allow unseen a game is checked where it gives its functions to Rules
func (w *worldOf[S, C]) step(t *Turn) { w.rules.Step(&w.s, &w.config, t) }

func (w *worldOf[S, C]) validate(c *Command) error {
	if w.rules.Validate == nil {
		return nil
	}
	//samestep:allow unseen a game is checked where it gives its functions to Rules
	return w.rules.Validate(&w.s, &w.config, c)
}

func (w *worldOf[S, C]) viewer(p Player) Viewer {
	if w.rules.ViewOf == nil {
		return Viewer{As: AsPlayer, Number: uint8(p)}
	}
	//samestep:allow unseen a game is checked where it gives its functions to Rules
	return w.rules.ViewOf(&w.s, p)
}

func (w *worldOf[S, C]) close()                         {}
func (w *worldOf[S, C]) appendConfig(dst []byte) []byte { return w.configCodec.Append(dst, &w.config) }
func (w *worldOf[S, C]) append(dst []byte) []byte       { return w.codec.Append(dst, &w.s) }
func (w *worldOf[S, C]) restore(_ Tick, b []byte) error { return w.codec.Decode(b, &w.s) }
func (w *worldOf[S, C]) copyFrom(o world)               { w.codec.Copy(&w.s, &o.(*worldOf[S, C]).s) }
func (w *worldOf[S, C]) sum(dst *checksum.Sum)          { checksum.Of(dst, w.codec, &w.s) }
func (w *worldOf[S, C]) state() any                     { return &w.s }

func (w *worldOf[S, C]) prints(dst []uint64) ([]uint64, int) { return w.codec.AppendPrints(dst, &w.s) }
func (w *worldOf[S, C]) settings() any                       { return &w.config }

// A PanicError is a panic of the game's own code. The state is unusable after it.
type PanicError struct {
	Tick  Tick   // of the turn in Step, after that of the state in Validate, of the command in Describe, else of the state
	Where string // "Step", "Validate", "Assets", "Load", "New", "Derive", "Describe", "SelfTest", or "Save" of rules elsewhere
	Value any    // the argument of panic; a [*abi.Fault] of rules elsewhere
	Stack []byte
}

func (e *PanicError) Error() string {
	if f, ok := e.Value.(*abi.Fault); ok && f.Limit {
		return fmt.Sprintf("lockstep: tick %d: a limit of the rules is exceeded in %s: %v", e.Tick, e.Where, f)
	}
	return fmt.Sprintf("lockstep: tick %d: the game panicked in %s: %v", e.Tick, e.Where, e.Value)
}

// An elementPanic is a panic of f.
type elementPanic struct {
	element int
	value   any
	stack   []byte
}

// String returns the text of a panic that no Simulation recovers.
func (p *elementPanic) String() string {
	return fmt.Sprintf("element %d of Turn.Each: %v", p.element, p.value)
}

func panicked(t Tick, where string, v any) *PanicError {
	if e, ok := v.(*elementPanic); ok {
		return &PanicError{t, where, e.String(), e.stack}
	}
	if f, ok := v.(*abi.Fault); ok {
		return &PanicError{t, where, f, []byte(f.Stack)}
	}
	//samestep:allow runtime for people: no simulation reads it
	return &PanicError{t, where, v, debug.Stack()}
}

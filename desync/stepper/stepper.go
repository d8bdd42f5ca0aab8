package stepper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A Stepper goes through a match tick by tick, in any order. The next tick is the cheapest. It belongs to one goroutine.
type Stepper struct {
	reader   *replay.Reader
	game     *lockstep.Game
	cursor   *replay.Cursor // nil before the first tick, and after a panic
	keyframe lockstep.Tick  // where the cursor began
	desync   lockstep.Tick  // the first contradiction since then, or 0
}

// New returns a Stepper of a match. g simulates it.
func New(r *replay.Reader, g *lockstep.Game) *Stepper { return &Stepper{reader: r, game: g} }

// maxStepPhases is the number of marks in a tick that are accounted for. Those after them belong to the last one.
const maxStepPhases = 256

// Step accounts for a tick. The error wraps a [*replay.TickError] if the match lacks the tick or begins with it, and
// [state.ErrPath] if neither the state before it nor that after it has the path. A simulation that contradicts the file is no
// error.
func (s *Stepper) Step(t lockstep.Tick, o Options) (*Step, error) {
	frame, err := s.reach(t, &o)
	if err != nil {
		return nil, err
	}
	sim := s.cursor.Simulation()
	x := &Step{
		Tick: t, Keyframe: s.keyframe, Commands: []Command{}, Phases: []Phase{}, Events: []string{}, Draws: []Draws{}, Did: noChanges(),
		before: sim.AppendState(nil), frame: frame.Clone(), limit: o.Lines, fieldwise: o.Path != "", schema: s.game.StateSchema(),
	}
	if x.words, err = lockstep.NewDescriber(sim.Header(), s.game); err != nil {
		return nil, err
	}
	w := &stepWork{Stepper: s, o: o, x: x, header: sim.Header()}
	alone, err := w.commands()
	if err != nil {
		return nil, err
	}
	if err := w.run(); err != nil || x.Panic != "" {
		return x, err
	}
	x.Stale = alone != nil && !bytes.Equal(alone, x.after)
	if x.Did, err = w.changes(x.before, x.after); err != nil {
		return nil, err
	}
	w.generators()
	s.frame() // compares what the file has of the tick; the end, or damage there, is an error of the next tick
	x.Agreed, x.Desync = s.cursor.Agreed(), s.desync
	return x, nil
}

// reach brings the cursor to the tick before t, and returns the frame of t.
func (s *Stepper) reach(t lockstep.Tick, o *Options) (*lockstep.Frame, error) {
	if s.cursor == nil || t == 0 || s.cursor.Tick() > t-1 {
		s.cursor = nil
		c, err := replay.NewCursor(s.reader, s.game, max(t, 1)-1)
		if err != nil {
			return nil, err
		}
		if c.Tick() >= t {
			return nil, s.lacks(t, c.Tick())
		}
		c.Compare()
		c.TakePanic()
		s.cursor, s.keyframe, s.desync = c, c.Tick(), 0
	}
	from := s.cursor.Tick()
	if err := s.reader.CheckTicks(t-from, o.MaxTicks); err != nil {
		return nil, err
	}
	for {
		frame, err := s.frame()
		switch {
		case err == io.EOF:
			return nil, s.lacks(t, s.keyframe)
		case err != nil || frame.Tick == t:
			return frame, err
		}
		if err := s.cursor.Step(); err != nil {
			s.cursor = nil
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(s.cursor.Tick()-from, t-from)
		}
	}
}

// frame returns the next frame, and notes what contradicts the file before it.
func (s *Stepper) frame() (*lockstep.Frame, error) {
	for {
		frame, err := s.cursor.Frame()
		var desync *lockstep.DesyncError
		if !errors.As(err, &desync) {
			return frame, err
		}
		if s.desync == 0 {
			s.desync = desync.Tick
		}
	}
}

// lacks returns the error for a tick that the match does not have after a keyframe, of tick first.
func (s *Stepper) lacks(t, first lockstep.Tick) error {
	r, err := s.reader.Reopen()
	if err != nil {
		return err
	}
	if keyframes := r.Index(); len(keyframes) > 0 {
		first = min(first, keyframes[0])
	}
	_, err = replay.StateAt(r, nil, max(t, first+1), replay.SimulateOptions{})
	var missing *replay.TickError
	switch {
	case errors.As(err, &missing):
		return &replay.TickError{Tick: t, First: first + 1, Last: missing.Last}
	case t > first:
		return err
	}
	return fmt.Errorf("desync: got tick %d, want at least %d: the match begins with the state after tick %d", t, first+1, first)
}

type stepWork struct {
	*Stepper
	o      Options
	x      *Step
	header *lockstep.Header
}

// changes compares the states before and after the tick, or others.
func (w *stepWork) changes(before, after []byte) (Changes, error) {
	return changesBetween(w.x.schema, before, after, &w.o)
}

// part is changes of a part of the tick. Neither of two states in the middle of a tick needs to have the path.
func (w *stepWork) part(before, after []byte) (Changes, error) {
	c, err := w.changes(before, after)
	if errors.Is(err, state.ErrPath) {
		err = nil
	}
	return c, err
}

// run computes the tick, and takes its phases, its events and its draws.
func (w *stepWork) run() error {
	x, sim := w.x, w.cursor.Simulation()
	x.Phases = append(x.Phases, Phase{Checksum: checksum.FormatHash(sim.Hash())}) // up to the first mark
	last, failed := x.before, error(nil)
	sim.ObservePhases(func(_ lockstep.Tick, name string, sum *checksum.Sum) {
		if len(x.Phases) > maxStepPhases || failed != nil {
			return
		}
		now := sim.AppendState(nil)
		failed = w.endPhase(last, now)
		x.Phases, last = append(x.Phases, Phase{Name: name, Checksum: checksum.FormatHash(sum.Hash)}), now
	})
	sim.Observe(func(_ lockstep.Tick, e any) { x.event(e, w.o.Lines) })
	sim.ObserveDraws(func(_ lockstep.Tick, d lockstep.Draw) { x.draw(d, w.o.Lines) })
	err := w.cursor.Step()
	sim.ObservePhases(nil)
	sim.Observe(nil)
	sim.ObserveDraws(nil)
	if errors.As(err, new(*lockstep.PanicError)) {
		x.Panic, w.Stepper.cursor, err = err.Error(), nil, nil
		if len(x.Phases) == 1 {
			x.Phases = []Phase{} // no marks
		}
		return failed
	}
	if err != nil {
		return err
	}
	x.after = sim.AppendState(nil)
	x.Checksum = checksum.FormatHash(sim.Hash())
	_, x.Ended = sim.Ended()
	for i := range x.Commands {
		if reason, refused := sim.Refused(&x.frame.Commands[i]); refused {
			reason = words.Clipped(reason, desync.MaxText)
			x.Commands[i].Answer = &reason
		}
	}
	if failed == nil {
		failed = w.endPhase(last, x.after)
	}
	switch {
	case len(x.Phases) == 1:
		x.Phases = []Phase{} // no marks
	case x.Phases[0].Checksum == x.Phases[1].Checksum:
		x.Phases = x.Phases[1:]
	}
	return failed
}

// endPhase notes what the last phase changed.
func (w *stepWork) endPhase(before, now []byte) (err error) {
	w.x.Phases[len(w.x.Phases)-1].Did, err = w.part(before, now)
	return err
}

func (s *Step) event(e any, limit int) {
	if len(s.Events) >= limit {
		s.Silent++
		return
	}
	s.Events = append(s.Events, words.Clipped(fmt.Sprintf("%T%+v", e, e), desync.MaxText))
}

func (s *Step) draw(d lockstep.Draw, limit int) {
	i := slices.IndexFunc(s.Draws, func(o Draws) bool { return o.Purpose == d.Purpose })
	if i < 0 {
		i = len(s.Draws)
		s.Draws = append(s.Draws, Draws{Purpose: d.Purpose})
	}
	x := &s.Draws[i]
	if x.Count++; len(x.Entities) < limit {
		x.Entities = append(x.Entities, d.Entity)
	}
}

// generators counts the draws from generators in the state.
func (w *stepWork) generators() {
	for _, x := range desync.StreamsOf(w.x.schema, w.x.Did.Fields.List, w.x.before, w.x.after, w.x.after) {
		if x.Known && x.Right > 0 {
			w.x.Draws = append(w.x.Draws, Draws{Purpose: x.Path, Count: x.Right, Generator: true})
		}
	}
}

// commands computes the tick with none of its commands, with the first one, with the first two, and so on, each time from the
// state before it. It returns the state after the tick with all commands, or nil after a panic.
func (w *stepWork) commands() (after []byte, err error) {
	x, all := w.x, w.x.frame.Commands
	sim, err := w.game.AwaitState(w.header)
	if err != nil {
		return nil, err
	}
	n := min(len(all), w.o.Commands)
	last, failed := []byte(nil), ""
	if n > 0 || len(all) == 0 {
		if last, failed, err = w.without(sim, 0); err != nil {
			return nil, err
		}
	}
	for i := range n {
		c := Command{Command: desync.Command{Tick: x.Tick, Player: all[i].Player, Sequence: all[i].Sequence, Text: words.Clipped(x.words.Describe(&all[i]), desync.MaxText)}, Did: noChanges()}
		if c.Refused, err = w.refused(sim, &all[i]); err != nil {
			return nil, err
		}
		now, panicked, err := w.without(sim, i+1)
		if err != nil {
			return nil, err
		}
		if c.Panic = panicked; panicked == "" && failed == "" {
			if c.Did, err = w.part(last, now); err != nil {
				return nil, err
			}
		}
		x.Commands = append(x.Commands, c)
		last, failed = now, panicked
	}
	if x.More = len(all) - n; x.More == 0 {
		return last, nil
	}
	after, panicked, err := w.without(sim, len(all))
	if err != nil || n == 0 || failed != "" || panicked != "" {
		return after, err
	}
	did, err := w.part(last, after)
	x.MoreDid = &did
	return after, err
}

// without computes the tick with its first n commands only. After a panic of the rules, the state is nil.
func (w *stepWork) without(sim *lockstep.Simulation, n int) (after []byte, panicked string, err error) {
	if err := sim.Restore(w.x.Tick-1, w.x.before); err != nil {
		return nil, "", err
	}
	err = sim.Step(&lockstep.Frame{Tick: w.x.Tick, Commands: w.x.frame.Commands[:n], Asked: w.x.frame.Asked})
	switch {
	case errors.As(err, new(*lockstep.PanicError)):
		return nil, err.Error(), nil
	case err != nil:
		return nil, "", fmt.Errorf("desync: %w", err)
	}
	return sim.AppendState(nil), "", nil
}

// refused returns why the rules refuse a command in the state before the tick, or "". They are asked only about commands of
// players.
func (w *stepWork) refused(sim *lockstep.Simulation, c *lockstep.Command) (string, error) {
	if c.Player == lockstep.System {
		return "", nil
	}
	if err := sim.Restore(w.x.Tick-1, w.x.before); err != nil {
		return "", err
	}
	own := *c
	if err := w.game.NewPayloads().Decode(&own); err != nil {
		return "", err
	}
	if err := sim.Validate(&own); err != nil && !(w.x.frame.Asked && errors.As(err, new(*lockstep.PanicError))) {
		return words.Clipped(err.Error(), desync.MaxText), nil
	}
	return "", nil
}

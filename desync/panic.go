package desync

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// explainPanic explains the bundle of a panic: where it was, on which commands, and whether it comes again here.
func (w *work) explainPanic() (*Explanation, error) {
	m := w.manifest
	p := &replay.Panic{Tick: m.Tick, Where: m.Panic.Where, Text: words.Clipped(m.Panic.Text, MaxText), Stack: m.Panic.Stack, Recorded: true}
	p.Passed = passed(m, w.log.header, w.log.last)
	w.e.Panic, w.e.Verdict = p, Verdict{Party: RulesPanicked, Players: []lockstep.Player{}}
	w.e.First, w.e.Compared, w.e.Fields, w.e.Places = Span{m.Tick, m.Tick}, m.Tick, state.Differences{List: []state.Difference{}}, state.Places{List: []state.Place{}}
	for i := range w.e.Who {
		w.e.Who[i].Differs = w.e.Who[i].Player == m.Player
	}
	if g := w.game("the tick was not computed again"); g != nil {
		if err := w.panicAgain(g); err != nil {
			w.note("the tick could not be computed again: %v", err)
		}
	}
	w.e.Verdict.Simulated = p.Computed
	w.e.Verdict.Text = panicGrade(p)
	w.e.Programs = w.programs()
	w.e.Fingerprint = panicFingerprint(w.e.Game, p.Text, p.Stack)
	return w.finish(), nil
}

// panicAgain computes the tick of the panic, or gives the rules the states around it if they panicked in Derive.
func (w *work) panicAgain(g *lockstep.Game) error {
	p, fault := w.e.Panic, (*lockstep.PanicError)(nil)
	derives := p.Where == inDerive
	if !derives && !isComputed(p.Where) {
		return errors.New("the panic was not in a tick")
	}
	switch err := w.toPanic(g, derives); {
	case err == nil:
		p.Computed = true
	case errors.As(err, &fault) && (!derives && fault.Tick == p.Tick || derives && fault.Where == inDerive && fault.Tick+1 >= p.Tick):
		p.Computed, p.Again, p.Here = true, true, fmt.Sprint(fault.Value)
	default:
		return err
	}
	return nil
}

// toPanic computes the match up to the tick of the panic.
func (w *work) toPanic(g *lockstep.Game, derives bool) error {
	r, err := w.log.reader()
	if err != nil {
		return err
	}
	t := w.manifest.Tick
	c, err := replay.NewCursor(r, g, t-1)
	if err != nil {
		return err
	}
	if n := t - min(t, c.Tick()); int64(n) > int64(w.options.MaxTicks) {
		return fmt.Errorf("it is %d ticks after a keyframe, want at most %d", n, w.options.MaxTicks)
	}
	c.TakePanic()
	for {
		if derives && c.Tick()+1 >= t {
			sim, err := g.AwaitState(w.log.header) // new rules
			if err == nil {
				err = sim.Restore(c.Tick(), c.Simulation().AppendState(nil))
			}
			if err != nil {
				return err
			}
		}
		if c.Tick() >= t {
			return nil
		}
		if c.Tick() == t-1 {
			f, err := c.Frame()
			if err != nil {
				return err
			}
			w.e.Panic.Commands = len(f.Commands)
			for i := range f.Commands[:min(len(f.Commands), maxPanicCommands)] {
				c := w.command(&f.Commands[i])
				c.Text = words.Clipped(c.Text, MaxText)
				w.e.Commands = append(w.e.Commands, Touch{c, []string{}, []string{}})
			}
		}
		if err := c.Step(); err != nil {
			return err
		}
	}
}

// maxPanicCommands is how many commands of the tick are described.
const maxPanicCommands = 8

// inDerive is where a [lockstep.PanicError] says that the rules panicked when they got a state.
const inDerive = "Derive"

// isComputed reports whether the tick of a panic, computed again, has what panicked.
func isComputed(where string) bool {
	return where == record.InStep || where == record.InValidate
}

// claimed returns the panic that a bundle is about, with what a verification of its replay has met.
func claimed(m *replay.Manifest, v *replay.Verification) *replay.Panic {
	p := &replay.Panic{Tick: m.Tick, Where: m.Panic.Where, Text: m.Panic.Text, Stack: m.Panic.Stack, Recorded: true, Computed: v.Ticks >= m.Tick && isComputed(m.Panic.Where), Passed: passed(m, v.Header, v.Ticks)}
	if own := v.Panic; own != nil && own.Tick == p.Tick {
		p.Commands, p.Computed, p.Again, p.Here = own.Commands, own.Computed, own.Again, own.Here
	}
	return p
}

// passed reports whether the server computed the tick in which a player's rules panicked: a frame is in the log only after that.
func passed(m *replay.Manifest, h *lockstep.Header, last lockstep.Tick) bool {
	return m.Player != lockstep.System && !h.Settings.Relay && last >= m.Tick
}

// addPanic describes a panic of the rules.
func addPanic(p *words.Page, x *replay.Panic) {
	p.Line("panic", "%s", x.Error())
	for i, f := range stackFrames(x.Stack) {
		p.Line(words.First("in", i), "%s", f)
	}
}

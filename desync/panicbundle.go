package desync

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-49bee653/samestep/internal/words"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// RulesPanicked: the rules panicked, so nobody has another state.
const RulesPanicked Party = "rules"

// ClassPanic: the rules panicked. Its fingerprint has the functions at the top of the stack.
const ClassPanic Class = "panic of the rules"

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
	if w.options.Game == nil {
		w.note("the game's code is not here: the tick was not computed again")
	} else if g, err := w.options.Game(w.log.header); err != nil {
		w.note("the game's code is not here (%v): the tick was not computed again", err)
	} else {
		if words, err := lockstep.NewDescriber(w.log.header, g); err == nil && !w.options.Redact {
			w.words = words
		}
		if err := w.panicAgain(g); err != nil {
			w.note("the tick could not be computed again: %v", err)
		}
	}
	w.e.Verdict.Simulated = p.Computed
	w.e.Verdict.Text = panicGrade(p)
	w.e.Programs = w.programs()
	w.e.Fingerprint = panicFingerprint(w.e.Game, p.Text, p.Stack)
	w.e.Traits = traitsOf(w.e.Who)
	if w.options.Redact {
		w.e.redact()
	}
	w.e.Title = w.e.answer()
	return &w.e, nil
}

// panicAgain computes the tick of the panic, or gives the rules the states around it if they panicked in Derive.
func (w *work) panicAgain(g *lockstep.Game) error {
	p, fault := w.e.Panic, (*lockstep.PanicError)(nil)
	derives := p.Where == inDerive
	if !derives && !isComputed(p.Where) {
		return errors.New("they panicked in no tick")
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
			if err := w.derive(g, c); err != nil {
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
			w.panicCommands(f)
		}
		if err := c.Step(); err != nil {
			return err
		}
	}
}

// derive gives a cursor's state to new rules.
func (w *work) derive(g *lockstep.Game, c *replay.Cursor) error {
	sim, err := g.AwaitState(w.log.header)
	if err != nil {
		return err
	}
	return sim.Restore(c.Tick(), c.Simulation().AppendState(nil))
}

// maxPanicCommands is how many commands of the tick are described.
const maxPanicCommands = 8

// panicCommands describes the commands of the tick.
func (w *work) panicCommands(f *lockstep.Frame) {
	w.e.Panic.Commands = len(f.Commands)
	for i := range f.Commands[:min(len(f.Commands), maxPanicCommands)] {
		c := &f.Commands[i]
		w.e.Commands = append(w.e.Commands, Touch{Command{c.Tick, c.Player, c.Sequence, words.Clipped(w.words.Describe(c), MaxText)}, []string{}, []string{}})
	}
}

// digitsIn matches numbers in what rules panic with, such as an index.
var digitsIn = regexp.MustCompile(`(0x[0-9a-f]+|\d+)`)

// panicFingerprint returns the fingerprint of a panic: of the functions at the top of its stack, or without a stack of what it says, without
// numbers.
func panicFingerprint(game, text, stack string) Fingerprint {
	f := Fingerprint{Game: game, Class: ClassPanic, Frames: strings.Join(functionsOf(stack), ", called by ")}
	if f.Frames == "" {
		f.Frames = "no stack: " + words.Clipped(digitsIn.ReplaceAllString(text, "#"), MaxName)
	}
	f.seal()
	return f
}

// panicGrade says what has become of a panic of the rules. Whether the rest of a file is true is another question.
func panicGrade(p *replay.Panic) string {
	switch {
	case !p.Recorded:
		return "they panic here, and the file does not say that they did in the match"
	case !p.Computed:
		return "unknown why: the tick was not computed again"
	case p.Again && p.Here == p.Text:
		return "proven: computed again, they panic in the same way"
	case p.Again && p.Text == "":
		return "proven: computed again, they panic"
	case p.Again:
		return "proven: computed again, they panic, too, but not with the same text"
	}
	if p.Passed {
		return "unknown why: computed again, they do not panic, as on the server; another program of this build, memory, or something outside of the state"
	}
	return "unknown why: computed again, they do not panic; other rules of this build, memory, or something outside of the state"
}

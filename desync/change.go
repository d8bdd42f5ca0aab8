package desync

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A Change is the last change of a field on the right side, up to the first divergent tick.
type Change struct {
	Field   string        `json:"field"` // such as "Units[ID=17].Health"
	Tick    lockstep.Tick `json:"tick"`  // 0 if it did not change since Since
	Since   lockstep.Tick `json:"since"` // the earliest tick that was searched
	Before  string        `json:"before"`
	After   string        `json:"after"`
	Command *Command      `json:"command,omitempty"` // the last command without which After would be another value
	Found   bool          `json:"found"`             // the search for Command was completed, as far as states are kept

	// Stale is the last tick at which the right side had the value that the wrong side has at the end; 0 if there is
	// none, or if the cause is known. Perhaps the wrong side missed the change after it.
	Stale lockstep.Tick `json:"stale,omitempty"`
}

// String returns the change as one line of text.
func (c Change) String() string {
	s := fmt.Sprintf("%s is %s, not changed since tick %d", c.Field, c.After, c.Since)
	if c.Tick > 0 {
		s = fmt.Sprintf("%s became %s instead of %s in tick %d", c.Field, c.After, c.Before, c.Tick)
		switch {
		case c.Command != nil:
			s += fmt.Sprintf(", by tick %d, %s", c.Command.Tick, c.Command.Text)
		case c.Found:
			s += fmt.Sprintf(", by the rules: no single command since tick %d makes a difference to it", c.Since)
		}
	}
	if c.Stale > 0 {
		s += fmt.Sprintf("; the wrong side has the value of tick %d", c.Stale)
	}
	return s
}

// A historian finds the command that wrote a field, in a second pass over the same frames.
type historian struct {
	*tester
	log      *matchLog
	describe func(*lockstep.Command) Command
}

// change returns the last change of a field up to a tick.
func (h *historian) change(w *diff.Watcher, until lockstep.Tick) (Change, error) {
	x := h.again
	c := Change{Field: w.Name(), After: w.Text(x.state(until)), Since: x.first}
	t := until
	for ; t > x.first; t-- {
		if !w.Same(x.state(t-1), x.state(t)) {
			break
		}
	}
	if t > x.first {
		c.Tick, c.Before = t, w.Text(x.state(t-1))
		return c, h.blame(&c, w)
	}
	return c, h.before(&c, w)
}

// stale returns the last tick before tick before at which the field had its value in the wrong state, or 0.
func (h *historian) stale(w *diff.Watcher, before lockstep.Tick, wrong []byte) lockstep.Tick {
	if _, ok := w.Value(wrong); !ok {
		return 0
	}
	for t := before; t > h.again.first; t-- {
		if w.Same(h.again.state(t-1), wrong) {
			return t - 1
		}
	}
	return 0
}

// blame looks for the last command without which the field would have another value at the tick of its change: first in
// that tick, then in earlier ones.
func (h *historian) blame(c *Change, w *diff.Watcher) error {
	x := h.again
	after := x.state(c.Tick)
	differs := func(t lockstep.Tick, f *lockstep.Frame) (bool, error) {
		b, err := h.play(&variation{from: t - 1, frames: map[lockstep.Tick]*lockstep.Frame{t: f}}, c.Tick, nil)
		return b != nil && !w.Same(b, after), err
	}
	for t := c.Tick; t > x.first; t-- {
		c.Since = t
		f := x.frames[t]
		if f == nil {
			continue
		}
		if any, err := differs(t, &lockstep.Frame{Tick: t}); err != nil || !any {
			if err != nil {
				return err
			}
			continue
		}
		for i := len(f.Commands) - 1; i >= 0; i-- {
			ok, err := differs(t, without(f, i))
			if err != nil {
				return err
			}
			if ok {
				command := h.describe(&f.Commands[i])
				c.Command, c.Found = &command, true
				return nil
			}
		}
	}
	c.Found = true
	return nil
}

// before looks for the change before the first kept state, backwards from keyframe to keyframe.
func (h *historian) before(c *Change, w *diff.Watcher) error {
	r, err := h.log.reader()
	if err != nil {
		return err
	}
	marks := r.Index()
	end := h.again.first
	for i := len(marks) - 1; i >= 0; {
		if marks[i] >= end {
			i--
			continue
		}
		if h.clock.left() <= 0 {
			return errBudget
		}
		h.clock.ticks += int(end - marks[i])
		h.spent += int(end - marks[i])
		found, err := h.stretch(c, w, marks[i], end)
		if err != nil || found {
			return err
		}
		end = c.Since
	}
	return nil
}

// stretch looks for the change between two ticks. It goes back as far as the kept states do, sets Since to that tick,
// and looks for the command after it.
func (h *historian) stretch(c *Change, w *diff.Watcher, from, to lockstep.Tick) (bool, error) {
	o := Options{MaxTicks: int(to - from), MaxMemory: h.again.most}
	x, err := h.log.simulate(h.again.game, from, from, to, &o)
	if err != nil {
		if errors.Is(err, replay.ErrLimit) {
			err = errBudget
		}
		return false, err
	}
	for t := to; t > x.first; t-- {
		if w.Same(x.state(t-1), x.state(t)) {
			continue
		}
		c.Tick, c.Before = t, w.Text(x.state(t-1))
		past := &historian{tester: &tester{again: x, sim: h.sim, clock: h.clock, tell: h.tell}, log: h.log, describe: h.describe}
		err := past.blame(c, w)
		h.clock, h.spent = past.clock, h.spent+past.spent
		return true, err
	}
	c.Since = x.first // after from if the states are large
	return false, nil
}

// A Touch is a command of the first divergent ticks that changes or names an element that differs.
type Touch struct {
	Command
	Changes []string `json:"changes"` // elements that would differ at the end of the tick without the command
	Names   []string `json:"names"`   // elements whose ID is a number in the command
}

// String returns the touch as one line of text.
func (t Touch) String() string {
	s := fmt.Sprintf("tick %d, %s", t.Tick, t.Text)
	if len(t.Changes) > 0 {
		s += " (changes " + strings.Join(t.Changes, ", ") + ")"
	} else {
		s += " (names " + strings.Join(t.Names, ", ") + ")"
	}
	return s
}

const (
	maxEntities = 16
	maxTouches  = 24
)

// entitiesOf returns watchers of the first elements, or fields outside of lists, that differ.
func entitiesOf(s *state.Schema, b []byte, differ []state.Difference) []*diff.Watcher {
	var all []*diff.Watcher
	for i := range differ {
		w, ok := diff.Watch(s, b, differ[i].Path)
		if !ok {
			continue
		}
		e := w.Element()
		if !slices.ContainsFunc(all, func(o *diff.Watcher) bool { return o.Name() == e.Name() }) {
			all = append(all, e)
		}
		if len(all) == maxEntities {
			break
		}
	}
	return all
}

// named returns the entities whose ID is a number in a command's text.
func named(text string, entities []*diff.Watcher) []string {
	numbers := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	var names []string
	for _, e := range entities {
		if e.ByID() && slices.Contains(numbers, fmt.Sprint(e.ID)) {
			names = append(names, e.Name())
		}
	}
	return names
}

// touches returns the commands of a frame without which one of the entities would differ at the end of the tick.
func (h *historian) touches(f *lockstep.Frame, entities []*diff.Watcher, plain *lockstep.Describer) ([]Touch, error) {
	var all []Touch
	for i := range f.Commands {
		changes, err := h.changes(f, i, f.Tick, entities)
		if err != nil {
			return all, err
		}
		if len(changes) > 0 {
			c := &f.Commands[i]
			all = append(all, Touch{Command: h.describe(c), Changes: changes, Names: named(plainText(plain, c), entities)})
		}
	}
	return all, nil
}

// changes returns the names of the entities that would differ after tick until without command i of a frame.
func (p *tester) changes(f *lockstep.Frame, i int, until lockstep.Tick, entities []*diff.Watcher) (names []string, err error) {
	b, err := p.play(&variation{from: f.Tick - 1, frames: map[lockstep.Tick]*lockstep.Frame{f.Tick: without(f, i)}}, until, nil)
	right := p.again.state(until)
	for _, e := range entities {
		if b != nil && right != nil && !e.Same(b, right) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// plainText returns the fields of a command, without its player and its name.
func plainText(d *lockstep.Describer, c *lockstep.Command) string {
	text := d.Describe(c)
	if i := strings.IndexByte(text, '{'); i >= 0 {
		return text[i:]
	}
	return ""
}

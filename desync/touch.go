package desync

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

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

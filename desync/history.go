package desync

import (
	"errors"

	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// maxChanges is the number of fields whose last change is searched.
const maxChanges = 3

// historian returns a historian with its own budget.
func (w *work) historian() *historian {
	t := *w.tester
	t.clock.begin(t.clock.now, w.options.Budget)
	t.tell = nil
	return &historian{tester: &t, log: w.log, describe: w.command}
}

// history finds the last changes of the first fields that differ, one field of each place.
func (w *work) history() {
	if w.tester == nil || w.e.Verdict.alien() {
		return
	}
	h := w.historian()
	until := min(w.e.First.To, w.bad)
	for i := range w.e.Places.List {
		if i == maxChanges || until < w.again.first {
			return
		}
		field, ok := diff.Watch(w.log.schema, w.again.state(w.e.Compared), w.e.Places.List[i].First.Path)
		if !ok {
			continue
		}
		c, err := h.change(field, until)
		if errors.Is(err, errBudget) {
			w.note("the last change of %s was searched back to tick %d only", c.Field, c.Since)
		} else if err != nil {
			w.note("the last change of %s could not be searched: %v", c.Field, err)
			continue
		}
		if w.e.Cause == nil {
			c.Stale = h.stale(field, w.bad, w.wrong)
		}
		w.e.Changes = append(w.e.Changes, c)
	}
}

// touches finds the commands of the first divergent ticks that change or name an element that differs.
func (w *work) touches() {
	if len(w.e.Fields.List) == 0 {
		return
	}
	if w.tester == nil || w.e.Verdict.alien() {
		w.touchesByName()
		return
	}
	entities := entitiesOf(w.log.schema, w.again.state(w.e.Compared), w.e.Fields.List)
	h := w.historian()
	for t := max(w.e.First.From, w.again.first+1); t <= w.e.First.To; t++ {
		f := w.again.frame(t)
		found, err := h.touches(&f, entities, w.plain)
		w.e.Commands = append(w.e.Commands, found...)
		if err != nil || len(w.e.Commands) > maxTouches {
			w.e.Commands = w.e.Commands[:min(len(w.e.Commands), maxTouches)]
			w.note("of the commands of ticks %d to %d, only the first %d that touch what differs are listed", w.e.First.From, w.e.First.To, len(w.e.Commands))
			return
		}
	}
}

// touchesByName finds the commands that name an element that differs, from the log alone.
func (w *work) touchesByName() {
	entities := entitiesOf(w.log.schema, w.right, w.e.Fields.List)
	visit := func(r *record.Record) error {
		if r.Tick < w.e.First.From || r.Tick > w.e.First.To {
			return nil
		}
		for i := range r.Frame.Commands {
			c := &r.Frame.Commands[i]
			if names := named(plainText(w.plain, c), entities); len(names) > 0 && len(w.e.Commands) < maxTouches {
				w.e.Commands = append(w.e.Commands, Touch{Command: w.command(c), Changes: []string{}, Names: names})
			}
		}
		return nil
	}
	if err := w.log.play(visit); err != nil {
		w.note("the commands could not be read: %v", err)
	}
}

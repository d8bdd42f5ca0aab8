package desync

import (
	"github.com/seed-49bee653/samestep/desync/internal/diff"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// search looks for the cause.
func (w *work) search() {
	if w.tester == nil || w.wrong == nil || w.e.Verdict.undecided() {
		return
	}
	if w.e.Again != nil && w.e.Again.outcome == protocol.ThirdResult {
		w.note("no trials: the machine of player %d computed the same ticks with another result, and no single fault accounts for that", w.manifest.Player)
		return
	}
	s := w.newSearch()
	if s.good >= s.bad {
		w.note("no trials: the states before tick %d do not fit into memory", s.good)
		return
	}
	if s.good > w.good {
		w.note("trials begin at tick %d only: the states before are too many to be kept", s.good)
	}
	switch err := s.look(w.families(s)); {
	case s.parted != nil:
		w.repeated.partings = append(w.repeated.partings, *s.parted)
		w.e.unfix(w.repeated.parting(), w.repeated.runs)
		return
	case err != nil:
		w.note("the trials ended: %v", err)
	}
	w.e.Trials, w.e.Tried = s.spent, s.tried
	w.e.Cause = s.cause()
	if w.e.Cause == nil {
		w.note("no single fault of those that were tried leads to the wrong state: perhaps a rule is wrong in several ticks")
	} else {
		w.e.Cause.ends = s.last
	}
	w.drawn(s)
}

// families returns all families of faults, the simplest first.
func (w *work) families(s *search) []family {
	schema := w.log.schema
	return []family{
		{"faults of commands", s.commands},
		{"faults of all commands of a tick", s.ticks},
		{"other numbers of draws", func() error { return s.draws(w.e.Streams) }},
		{"orders of lists", func() error { return s.orders(diff.ListsOf(schema), w.listed.Orders) }},
		{"lost elements", func() error { return s.elements(diff.ListsOf(schema), w.listed.Missing) }},
		{"altered payloads of commands that change what differs", func() error { return s.payloads(w.relevant(s), true) }},
		{"altered fields", func() error { return s.altered(schema, w.listed.fields.List) }},
		{"altered payloads of other commands", func() error { return s.payloads(w.relevant(s), false) }},
		{"commands of other players", s.players},
		{"other configurations", s.configurations},
	}
}

// relevant returns the commands without which an element that differs would have another value.
func (w *work) relevant(s *search) (all []*lockstep.Command) {
	entities := entitiesOf(w.log.schema, w.again.state(w.bad), w.listed.fields.List)
	for t := w.known() + 1; t <= w.bad; t++ {
		f := w.again.frame(t)
		for i := range f.Commands {
			if changes, err := s.changes(&f, i, w.bad, entities); err != nil {
				return all
			} else if len(changes) > 0 {
				all = append(all, &f.Commands[i])
			}
		}
	}
	return all
}

func (w *work) drawn(s *search) {
	var fault *variation
	if w.e.Cause != nil && w.e.Cause.fault.config == nil {
		fault = &w.e.Cause.fault
	}
	s.clock.begin(s.clock.now, w.options.Budget) // again, after the search
	s.tell = nil
	all, err := s.drawsOf(s.good, s.bad, fault)
	if err != nil {
		w.note("the draws were not counted: %v", err)
		return
	}
	w.e.Draws = all
}

// command returns a command with its text.
func (w *work) command(c *lockstep.Command) Command {
	return Command{c.Tick, c.Player, c.Sequence, w.words.Describe(c)}
}

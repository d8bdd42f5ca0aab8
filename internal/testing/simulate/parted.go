package simulate

import (
	"fmt"
	"maps"

	"github.com/seed-49bee653/samestep/lockstep"
)

// parted returns the first field in which a state of tick t differs from the correct
// one, which it computes again. It returns "" if they agree now, as those of a
// nondeterministic game may.
func (o *oracle) parted(t lockstep.Tick, got []byte) string {
	want := o.stateAt(t)
	if want == nil {
		return ""
	}
	d, err := o.subject.Game.StateSchema().Diff(got, want, 1)
	if err != nil || d.Total == 0 {
		return ""
	}
	first := &d.List[0]
	text := fmt.Sprintf(": %s: got %s, want %s", first.Path, first.A, first.B)
	if d.Total > 1 {
		text += fmt.Sprintf(" (and %d more fields)", d.Total-1)
	}
	return text
}

// stateAt returns the canonical state of a tick of the log, or nil.
func (o *oracle) stateAt(t lockstep.Tick) []byte {
	sim, err := o.subject.Game.NewSimulation(o.header)
	if err != nil {
		return nil
	}
	var from savedState
	for _, s := range o.saved {
		if s.tick <= t {
			from = s
		}
	}
	if from.state != nil && sim.Restore(from.tick, from.state) != nil {
		return nil
	}
	aside, again := *o.w, *o // copies, whose records are dropped
	aside.oracle, again.w = &again, &aside
	again.sim, again.last, again.hashes = sim, from.last, append([]uint64(nil), o.hashes[:from.tick+1]...)
	again.where, again.course, again.frame = maps.Clone(o.where), nil, lockstep.Frame{}
	for _, record := range o.now().records[from.at:] {
		if again.tick() == t {
			break
		}
		again.run(record)
	}
	if again.tick() != t {
		return nil
	}
	return sim.AppendState(nil)
}

// run runs an earlier record again.
func (o *oracle) run(record []byte) {
	p := packed{b: record}
	n := p.array()
	switch p.uint() {
	case recordFrame:
		o.commands(&p, (n-1)/4)
	case recordEmpty:
		o.frame.Commands = o.frame.Commands[:0]
		o.step()
	case recordNote, recordEvent:
		o.note(&p)
	}
}

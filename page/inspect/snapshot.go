package inspect

import (
	"strings"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/state"
)

// shownChanges limits the changes that are listed; marked limits those that mark a row.
const shownChanges, marked = 300, 3000

// A Snapshot is the state of a tick, and that of the tick before it, as canonical bytes. It belongs to one goroutine.
type Snapshot struct {
	schema      *state.Schema
	tick        lockstep.Tick
	before, now []byte
	layers      *layers

	differences state.Differences
	changed     map[string]bool // paths of changed fields, and of everything around them
	compared    bool
}

// Take takes the states of two simulations of a game, of the same tick or one tick apart.
func (s *Snapshot) Take(schema *state.Schema, before, now *lockstep.Simulation) {
	s.use(schema)
	s.tick, s.compared = now.Tick(), false
	s.before = s.before[:0]
	if before != nil {
		s.before = before.AppendState(s.before)
	}
	s.now = now.AppendState(s.now[:0])
}

// TakeBytes takes the states of a tick and of the tick before as canonical bytes, which it copies. before is nil if it is not known.
func (s *Snapshot) TakeBytes(schema *state.Schema, t lockstep.Tick, before, now []byte) {
	s.use(schema)
	s.tick, s.compared = t, false
	s.before, s.now = append(s.before[:0], before...), append(s.now[:0], now...)
}

// use prepares for states of a schema.
func (s *Snapshot) use(schema *state.Schema) {
	if s.schema != schema {
		s.schema, s.layers = schema, layersOf(schema)
	}
}

// Tick returns the tick of the state.
func (s *Snapshot) Tick() lockstep.Tick { return s.tick }

// SizeBytes returns the size of the state in canonical bytes.
func (s *Snapshot) SizeBytes() int { return len(s.now) }

// Changes returns the fields that differ between the two states: at most 300 of them, and their number.
func (s *Snapshot) Changes() state.Differences {
	s.compare()
	d := s.differences
	d.List = append([]state.Difference{}, d.List...) // an empty list, not null, for the page
	return d
}

// compare compares the two states once.
func (s *Snapshot) compare() {
	if s.compared || s.schema == nil {
		return
	}
	s.compared, s.changed = true, make(map[string]bool)
	s.differences = state.Differences{List: []state.Difference{}}
	if len(s.before) == 0 {
		return
	}
	d, err := s.schema.Diff(s.before, s.now, marked)
	if err != nil || d.List == nil {
		return // a simulation's own bytes are canonical
	}
	for _, f := range d.List {
		path := f.Path
		for path != "" && !s.changed[path] {
			s.changed[path] = true
			path = path[:max(strings.LastIndexAny(path, ".["), 0)]
		}
	}
	d.List = d.List[:min(len(d.List), shownChanges)]
	d.Rename(s.schema.Names(s.before, s.now))
	s.differences = d
}

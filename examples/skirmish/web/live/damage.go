package live

import (
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/examples/skirmish/web/scene"
	"github.com/seed-49bee653/samestep/state"
)

// maxDamaged limits the units that are marked.
const maxDamaged = 200

// damaged returns the units that have one of the fields, such as Units[3].Health, in a state.
func damaged(w *skirmish.World, fields []state.Difference) (ids []skirmish.UnitID) {
	for _, f := range fields {
		var i int
		if n, err := fmt.Sscanf(f.Path, "Units[%d]", &i); n != 1 || err != nil || i < 0 || i >= len(w.Units) {
			continue
		}
		if id := w.Units[i].ID; len(ids) < maxDamaged && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// marksOf returns the marks of units, as far as they are alive.
func marksOf(w *skirmish.World, ids []skirmish.UnitID) (marks []scene.Mark) {
	for _, id := range ids {
		if u := scene.Find(w, id); u != nil {
			marks = append(marks, scene.Mark{Kind: u.Kind, Owner: u.Owner, At: u.Pos, Other: u.Pos})
		}
	}
	return marks
}

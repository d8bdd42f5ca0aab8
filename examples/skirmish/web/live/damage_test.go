package live

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/state"
)

// The units of fields that differ are marked while they are alive.
func TestDamaged(t *testing.T) {
	w := &skirmish.World{Units: []skirmish.Unit{{ID: 5}, {ID: 9, Owner: 1}}}
	var fields []state.Difference
	for _, path := range []string{"Match.Winner", "Units[1].Health", "Units[1].Pos.X", "Units[7].Health", "Units", "Units[x]"} {
		fields = append(fields, state.Difference{Path: path})
	}
	ids := damaged(w, fields)
	if want := []skirmish.UnitID{9}; !slices.Equal(ids, want) {
		t.Errorf("got units %v, want %v", ids, want)
	}
	if marks := marksOf(w, append(ids, 100)); len(marks) != 1 || marks[0].Owner != 1 {
		t.Errorf("got marks %v, want one of unit 9", marks)
	}
}

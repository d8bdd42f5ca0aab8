package state_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/state"
)

// An element has the name of its ID if it has that ID in all states, and no other element has it.
func TestNames(t *testing.T) {
	type item struct{ ID uint8 }
	type unit struct {
		Health uint16
		ID     int16
		Items  []item
	}
	type late struct { // whose ID has no fixed place
		Name string
		ID   uint8
	}
	type world struct {
		Units []unit
		Late  []late
		Pair  [1]item
		Deep  struct{ Units []unit }
	}
	c, err := state.Compile[world]()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Units: []unit{{ID: 7, Items: []item{{9}}}, {ID: 8}}, Late: []late{{}}}
	w.Deep.Units = []unit{{ID: 3}}
	right := c.Append(nil, w)
	w.Units[1].ID = 6
	wrong := c.Append(nil, w)
	w.Units[1].ID = 7
	twice := c.Append(nil, w)
	w.Units[0].ID = -1
	negative := c.Append(nil, w)
	for _, row := range []struct {
		states [][]byte
		path   string
		want   string
	}{
		{[][]byte{right}, "Units[1].Health", "Units[ID=8].Health"},
		{[][]byte{right}, "Units[0]", "Units[ID=7]"},
		{[][]byte{right}, "Units[0].Items[0].ID", "Units[ID=7].Items[0].ID"},
		{[][]byte{right}, "Deep.Units[0].ID", "Deep.Units[ID=3].ID"},
		{[][]byte{right}, "Units[ID=8].Health", "Units[ID=8].Health"},
		{[][]byte{right}, "Units[2].Health", "Units[2].Health"},
		{[][]byte{right}, "Units", "Units"},
		{[][]byte{right}, "Late[0].ID", "Late[0].ID"},
		{[][]byte{right}, "Pair[0].ID", "Pair[0].ID"},
		{[][]byte{right, wrong}, "Units[0].Health", "Units[ID=7].Health"},
		{[][]byte{right, wrong}, "Units[1].Health", "Units[1].Health"},
		{[][]byte{twice}, "Units[0].Health", "Units[0].Health"},
		{[][]byte{negative}, "Units[0].Health", "Units[ID=-1].Health"},
	} {
		if got := c.Schema().Names(row.states...)(row.path); got != row.want {
			t.Errorf("%s in %d states: got %s, want %s", row.path, len(row.states), got, row.want)
		}
	}
}

package ids_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/fixed/ids"
)

func ExampleTable() {
	type unit struct{ Health uint16 }
	var units ids.Table[unit] // a field of the state
	first, second := units.Add(unit{10}), units.Add(unit{20})
	units.Get(first).Health = 0
	units.Keep(func(_ ids.ID, u *unit) bool { return u.Health > 0 })
	fmt.Println(units.Get(first), units.Get(second).Health)
	fmt.Println(units.Add(unit{30}), units.IDs)
	// Output:
	// <nil> 20
	// 3 [2 3]
}

func ExampleFind() {
	type unitID uint32
	units := []unitID{3, 4, 7, 9}
	fmt.Println(ids.Find(units, 7), ids.Find(units, 8))
	// Output:
	// 2 -1
}

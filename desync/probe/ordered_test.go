package probe

import (
	"fmt"
	"slices"
	"testing"
)

// In order, two runs over a map are the same; an entry that is deleted on the way is left out.
func TestOrdered(t *testing.T) {
	InOrder = true
	defer func() { InOrder = false }()
	type key struct {
		Name string
		At   [2]int8
		Up   bool
	}
	m := map[key]int{}
	for i := range 40 {
		m[key{fmt.Sprint(i % 3), [2]int8{int8(i % 5), -int8(i)}, i%2 == 0}] = i
	}
	var keys []key
	for k := range Ordered(m) {
		keys = append(keys, k)
		if len(keys) == 1 {
			delete(m, key{"2", [2]int8{3, -38}, true})
		}
	}
	if len(keys) != 39 || keys[0] != (key{"0", [2]int8{0, -30}, true}) || slices.ContainsFunc(keys, func(k key) bool { return m[k] == 38 }) {
		t.Fatalf("got %d keys from %v to %v", len(keys), keys[0], keys[len(keys)-1])
	}
	var again []key
	for k, v := range Ordered(m) {
		if m[k] != v {
			t.Errorf("%v: got %d, want %d", k, v, m[k])
		}
		again = append(again, k)
	}
	if !slices.Equal(keys, again) {
		t.Errorf("got %v\nand %v", keys, again)
	}
}

// Keys without an order are ranged over as ever.
func TestOrderedWithoutOrder(t *testing.T) {
	InOrder = true
	defer func() { InOrder = false }()
	m := map[any]float64{1: 2, "a": 3}
	n := 0
	for k, v := range Ordered(m) {
		if m[k] == v {
			n++
		}
	}
	if n != 2 {
		t.Errorf("got %d entries, want 2", n)
	}
}

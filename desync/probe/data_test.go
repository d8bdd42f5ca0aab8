package probe

import (
	"reflect"
	"slices"
	"testing"
)

type tree struct {
	Name  string
	Left  *tree
	costs map[string]int32
	does  func()
	box   chan int
	bytes []byte
	any   any
}

func nothing() {}

// All that a variable points to is told, and no address is.
func TestVariables(t *testing.T) {
	root := &tree{Name: "a", costs: map[string]int32{"iron": 5, "amber": 7}, does: nothing, box: make(chan int, 3), bytes: []byte("b"), any: [2]int8{1, 2}}
	root.Left = root // a circle
	Data("x/y.root", &root)
	defer delete(data, "x/y.root")
	all := Variables()
	want := []Part{
		{".Name", `"a"`},
		{".costs", "2 entries"},
		{`.costs["amber"]`, "7"},
		{`.costs["iron"]`, "5"},
		{".does", "github.com/seed-49bee653/samestep/desync/probe.nothing"},
		{".box", "chan with room for 3, 0 inside"},
		{".bytes", `"b"`},
		{".any[0]", "1"},
		{".any[1]", "2"},
	}
	if len(all) != 1 || all[0].Name != "x/y.root" || !slices.Equal(all[0].Parts, want) {
		t.Errorf("got %v\nwant %v", all, want)
	}
}

// What is beyond the limit has a hash.
func TestVariablesAreBounded(t *testing.T) {
	parts := func(last int) []Part {
		list := make([]int, 2*maxParts)
		list[len(list)-1] = last
		w := walk{seen: map[visited]bool{}}
		w.value("", reflect.ValueOf(list), 0)
		return append(w.parts, Part{"…", string(w.rest)})
	}
	a, b := parts(1), parts(2)
	if len(a) != maxParts+1 || slices.Equal(a, b) || !slices.Equal(a, parts(1)) {
		t.Errorf("got %d parts, and %v | %v", len(a), a[len(a)-1], b[len(b)-1])
	}
}

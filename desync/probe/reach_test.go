package probe

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
)

type node struct {
	ID   int
	Next *node
	in   map[string]*node
	list []int
	any  any
	//lint:ignore U1000 read by reflection
	f func()
	sync.Mutex
}

// ring returns two nodes that refer to each other, and to much else.
func ring(deep int) *node {
	a, b := &node{ID: 1, list: make([]int, 100)}, &node{ID: 2, any: []string{"x"}}
	a.Next, b.Next = b, a
	a.in = map[string]*node{"a": a, "b": b, "c": {ID: 3, list: []int{deep}}}
	return a
}

// left1 returns what a call leaves in v, as a recording tells it.
func left1(tb testing.TB, v any) string {
	all := recorded(tb, func() { C(2, 1, A(1, v)) })
	return all[1].Value
}

// What a value reaches has one sum, in any order of a map and at any address, and another one if anything in it changes.
func TestReach(t *testing.T) {
	for range 20 {
		if a, b := left1(t, ring(7)), left1(t, ring(7)); a != b {
			t.Fatalf("got %s and %s for equal values", a, b)
		}
	}
	if a, b := left1(t, ring(7)), left1(t, ring(8)); a == b {
		t.Errorf("got %s for different values", a)
	}
	r := ring(7)
	r.list[50]++
	if a, b := left1(t, ring(7)), left1(t, r); a == b {
		t.Errorf("got %s with another element in the middle of a list", a)
	}
}

// A call that changes something has the old value, and keeps its own arguments only.
func TestCallInCall(t *testing.T) {
	got := recorded(t, func() {
		a, b := []int{3, 1, 2}, []int{6, 5}
		sorted := func(list []int) []int { slices.Sort(list); return list }
		first := C(1, 1, slices.Max(A(2, C(3, 1, sorted(A(4, a))))))
		slices.Reverse(K(5, b[1:], b))
		P(6, 1)
		V(7, first)
	})
	want := []Event{
		{Site: 4, Depth: 1, Value: "[3 1 2]"},
		{Site: 3, Depth: 1, Value: "[1 2 3]", Old: "[3 1 2]", Replaces: true},
		{Site: 2, Depth: 1, Value: "[1 2 3]"},
		{Site: 1, Depth: 1, Value: "[1 2 3]"},
		{Site: 5, Depth: 1, Value: "[5]"},
		{Site: 6, Depth: 1, Value: "[6 5]"},
		{Site: 7, Depth: 1, Value: "3"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A call that panics leaves none of its arguments to the next.
func TestKeptByPanic(t *testing.T) {
	got := recorded(t, func() {
		func() {
			defer func() { _ = recover() }()
			defer Leave(Enter(1))
			A(2, []int{1})
			panic("no C follows")
		}()
		if n := len(rec.main.kept); n > 0 {
			t.Errorf("got %d arguments of the call that panicked", n)
		}
		C(4, 1, A(3, []int{2}))
	})
	if last := got[len(got)-1]; last.Value != "[2]" {
		t.Errorf("got %+v", last)
	}
}

// Locks and the engine's match are not looked into; numbers of their packages are.
func TestOpaque(t *testing.T) {
	const engine = "github.com/seed-49bee653/samestep/lockstep"
	for _, c := range []struct {
		pkg, name string
		want      bool
	}{
		{"sync", "Mutex", true}, {engine, "Turn", true}, {engine, "Player", false}, {engine + "/record", "Command", false},
		{"time", "Duration", false}, {"time", "Location", true}, {"strings", "Builder", false},
	} {
		if got := Opaque(c.pkg, c.name); got != c.want {
			t.Errorf("%s.%s: got %v", c.pkg, c.name, got)
		}
	}
	if a, b := left1(t, &node{Mutex: sync.Mutex{}}), left1(t, func() *node { n := &node{}; n.Lock(); return n }()); a != b {
		t.Errorf("got %s and %s", a, b)
	}
}

// More than a sum has is counted.
func TestPartial(t *testing.T) {
	var b bytes.Buffer
	Start(&b, nil, nil)
	C(2, 1, A(1, make([]int, maxReach+1)))
	C(2, 1, A(1, make([]int, maxReach/2)))
	if n, err := Stop(); err != nil || n.Partial != 2 { // before and after the call
		t.Errorf("got %+v, %v, want 2 partial sums", n, err)
	}
}

type field struct {
	Units []row
	Best  *row
	Queue []int
	inner struct{ lists [][]int }
}

// A copy of what is in the state is marked, also after the state has got new lists.
func TestOutside(t *testing.T) {
	w := &field{Units: make([]row, 3), Queue: []int{1, 2, 3}}
	w.inner.lists = [][]int{{7}}
	w.Best = &row{ID: 9}
	var b bytes.Buffer
	Start(&b, w, nil)
	defer Stop()
	stray := row{ID: 1}
	check := func(name string, v any, want bool) {
		t.Helper()
		if _, is := Outside(rec.main.text(v)); is != want {
			t.Errorf("%s: got %s, want outside %v", name, rec.main.text(v), want)
		}
	}
	check("the state", w, false)
	check("an element", &w.Units[1], false)
	check("a field", &w.Units[1].Health, false)
	check("by a pointer", w.Best, false)
	check("a part", w.Queue[1:], false)
	check("a list in a list", w.inner.lists[0], false)
	check("a variable", &stray, true)
	check("a copy", slices.Clone(w.Queue), true)
	check("an empty list", []int{}, false)
	check("a number", 3, false)
	old := &w.Units[0]
	w.Units = append(w.Units, stray)
	W(1, w.Units, None)
	check("the old list", old, true)
	check("the new one", &w.Units[0], false)
}

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
		w := walk{seen: map[target]bool{}}
		w.value("", reflect.ValueOf(list), 0)
		return append(w.parts, Part{"…", string(w.rest)})
	}
	a, b := parts(1), parts(2)
	if len(a) != maxParts+1 || slices.Equal(a, b) || !slices.Equal(a, parts(1)) {
		t.Errorf("got %d parts, and %v | %v", len(a), a[len(a)-1], b[len(b)-1])
	}
}

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

package weave

import (
	"slices"
	"testing"
)

// sites makes the sites of one function: a kind and a text each.
func sites(fn string, list ...Site) (all []Site) {
	all = append(all, Site{Func: fn, Kind: Enter, Text: fn})
	for _, s := range list {
		s.Func = fn
		all = append(all, s)
	}
	return all
}

func TestAlign(t *testing.T) {
	test := func(text string) Site { return Site{Kind: Test, Text: text} }
	set := func(name, text string) Site { return Site{Kind: Write, Name: name, Text: text} }
	call := func(text string) Site { return Site{Kind: Call, Text: text} }
	for _, c := range []struct {
		name string
		a, b []Site
		want []int
	}{
		{"equal", sites("f", test("a"), set("x", "x = 1")), sites("f", test("a"), set("x", "x = 1")), []int{0, 1, 2}},
		{"an edited test", sites("f", test("a > 0"), set("x", "x = 1")), sites("f", test("a > 1"), set("x", "x = 1")), []int{0, 1, 2}},
		{"an edited assignment among others", sites("f", set("x", "x = 1"), set("y", "y = 1")), sites("f", set("y", "y = 2"), set("x", "x = 2")), []int{0, 2, 1}},
		{"an inserted statement", sites("f", test("a"), test("b")), sites("f", test("a"), call("g()"), test("b")), []int{0, 1, None, 2}},
		{"a forgotten statement", sites("f", test("a"), call("g()"), test("b")), sites("f", test("a"), test("b")), []int{0, 1, 3}},
		{"swapped statements", sites("f", call("g()"), call("h()")), sites("f", call("h()"), call("g()")), []int{0, 2, None}},
		{"a renamed function", sites("f", test("a"), set("x", "x = 1")), sites("g", test("a"), set("x", "x = 1")), []int{0, 1, 2}},
		{"another function", sites("f", test("a")), sites("g", test("b")), []int{None, None}},
	} {
		if got := Align(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

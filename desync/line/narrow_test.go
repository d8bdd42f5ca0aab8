package line

import (
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/words"
)

// Of two values only the part that differs is printed.
func TestNarrow(t *testing.T) {
	for _, c := range []struct{ text, a, b, want string }{
		{"n", "3", "4", "n is 3 | 4"},
		{"u.Pos = p", "{X:1 Y:2}", "{X:1 Y:3}", "Y of u.Pos = p is 2 | 3"},
		{"x", "{Pos:{X:1 Y:2} On:&Unit 5 Y:1}", "{Pos:{X:1 Y:3} On:&Unit 5 Y:2}", "Pos.Y of x is 2 | 3, and 1 more part"},
		{"x", "{On:&Unit 5 Y:1}", "{On:&Unit 6 Y:1}", "On of x is &Unit 5 | &Unit 6"},
		{"x", "[1 {A:2} 3]", "[1 {A:4} 3]", "[1].A of x is 2 | 4"},
		{"x", "[&Unit 1 &Unit 2]", "[&Unit 1 &Unit 3]", "[1] of x is &Unit 2 | &Unit 3"},
		{"x", "[1 2]", "[1 2 3]", "x is [1 2] | [1 2 3]"},
		{"x", `{A:"a b:} {" B:2}`, `{A:"a b:} {" B:3}`, "B of x is 2 | 3"},
		{"game.(*World).hit(w, u, by)", "&World, &Unit 5, 3", "&World, &Unit 5, 4", "by of game.(*World).hit(w, u, by) is 3 | 4"},
		{"game.move(u, to)", "&Unit 5, {X:1 Y:2}", "&Unit 5, {X:1 Y:3}", "to.Y of game.move(u, to) is 2 | 3"},
		{"x", "&{A:1} outside the state", "&{A:2} outside the state", "A of x is 1 | 2"},
		{"x", "&{A:1}", "&{A:1} outside the state", "x is &{A:1} | &{A:1} outside the state"},
		{"x", "{A:1 B:[1 2]} #abc", "{A:1 B:[1 3]} #def", "B[1] of x is 2 | 3"},
		{"x", "{A:1} #abc", "{A:1} #def", "x is {A:1} #abc | {A:1} #def"},
		{"x", "{A:1 B:tru… #1", "{A:1 B:fal… #2", "x is {A:1 B:tru… #1 | {A:1 B:fal… #2"},
		{"x", "{A:1 B:2}", "{A:1 C:3}", "x is {A:1 B:2} | {A:1 C:3}"},
		{"x", "&Unit 3", "{ID:3 X:1 Y:{Z:2}}", "x is &Unit 3 | {ID:3 …}"},
		{"f()", "", "1, 2", "f() is – | 1, 2"},
	} {
		if got := valuesText(c.text, [2]string{c.a, c.b}); got != c.want {
			t.Errorf("%s, %s: got %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// A struct that stands beside something else is named by its first field, wherever it is printed.
func TestShortStructs(t *testing.T) {
	const unit = "{ID:7 Pos:{X:1 Y:2} Health:40}"
	place := &Place{File: "a.go", Line: 3, Func: "f"}
	for want, f := range map[string]*Finding{
		"then a.go:3 u: – | {ID:7 …}":               {Writes: []Write{{Place: *place, Name: "u", Values: [2]string{"", unit}}}},
		"u is 3 | {ID:7 …}":                         {Reason: Value, Text: "u", Values: [2]string{"3", unit}},
		"go different ways from here: – | {ID:7 …}": {Reason: Flow, Values: [2]string{"", unit}},
		"becomes {ID:7 …}, and stays {ID:8 …}":      {Where: [2]*Place{nil, place}, Values: [2]string{"{ID:8 On:3}", unit}},
		"becomes {ID:7 A:1}, and stays {ID:7 B:1}":  {Where: [2]*Place{nil, place}, Values: [2]string{"{ID:7 B:1}", "{ID:7 A:1}"}},
	} {
		f.Where[1] = place
		var p words.Page
		f.add(&p)
		var text strings.Builder
		if p.Write(&text); !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
			t.Errorf("got %s\nwant %s", &text, want)
		}
	}
}

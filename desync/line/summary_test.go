package line

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/words"
)

func TestSummary(t *testing.T) {
	at := func(line int) *Result {
		p := &Place{"a.go", line, "hold.hit", "x = 1"}
		return &Result{Mode: Versions, Sides: [2]string{".", "v1"}, Tick: 5, Finding: &Finding{Reason: Value, Text: "x = 1", Where: [2]*Place{p, p}}}
	}
	same := &Result{Mode: Versions, Sides: [2]string{".", "v1"}, Last: 9}
	var s Summary
	s.Add("one", at(3), nil)
	s.Add("two", same, nil)
	if s.Add("three", at(4), nil); !s.Differs() {
		t.Error("got no difference")
	}
	s.Add("four", nil, errors.New("four: torn"))
	for n := range 10 {
		s.Add(fmt.Sprint("more ", n), at(4), nil)
	}
	var b bytes.Buffer
	if err := s.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const head = `files      14: 3 groups
group 1    11 files: a.go:4  x = 1
group 2    1 file: a.go:3  x = 1
group 3    1 file: nothing differs
failed     four: torn

group 1    a.go:4  x = 1
files      three
           more 0
           more 1
           more 2
           more 3
           more 4
           more 5
           more 6
           and 3 more
sides      A: .
`
	if !bytes.HasPrefix(b.Bytes(), []byte(head)) {
		t.Errorf("got\n%s\nwant\n%s", &b, head)
	}
	if !bytes.HasSuffix(b.Bytes(), []byte("group 3    nothing differs\nfiles      two\nsides      A: .\n           B: v1\nverdict    both versions compute the same from tick 0 to 9\n")) {
		t.Errorf("got\n%s", &b)
	}
	// A bundle whose desync is another one is counted apart.
	other := at(4)
	other.Reported = &Reported{Text: []string{"neither"}, Doubt: "neither"}
	s.Add("five", other, nil)
	b.Reset()
	if err := s.WriteText(&b); err != nil || !bytes.Contains(b.Bytes(), []byte("\ngroup 4    1 file: not the desync of these bundles: a.go:4  x = 1\n")) {
		t.Errorf("got %v\n%s", err, &b)
	}
	// A tick without a result is no equal one.
	var ends Summary
	for i, r := range []*Result{
		{Mode: Again, Tick: 5, Endless: [2]*Endless{{Ended: "exit code 4"}, nil}}, {Mode: Again, Tick: 5, Panics: [2]string{"boom", "boom"}}, {Mode: Again, Tick: 5},
		{Mode: Again, Tick: 6, Endless: [2]*Endless{{Ended: "exit code 4"}, nil}},
	} {
		ends.Add(fmt.Sprint(i), r, nil)
	}
	want := []string{"A exits in a tick (exit code 4)", "panic: boom", "a tick that has the same result when it is computed alone"}
	for i, g := range ends.Groups {
		if i >= len(want) || g.what() != want[i] {
			t.Errorf("group %d: got %q of %v", i+1, g.what(), g.Files)
		}
	}
	// Two sides that do the same in a tick that they do not end differ in nothing.
	recursion, loop := &Endless{Ended: stackOverflow}, &Endless{Seconds: 20}
	for _, c := range []struct {
		a, b    *Endless
		finding *Finding
		differs bool
	}{{recursion, recursion, nil, false}, {loop, loop, nil, false}, {loop, recursion, nil, true}, {nil, loop, nil, true}, {loop, loop, &Finding{Reason: Value}, true}} {
		r := &Result{Mode: Again, Tick: 5, Endless: [2]*Endless{c.a, c.b}, Finding: c.finding}
		var one Summary
		if one.Add("one", r, nil); one.Differs() != c.differs {
			t.Errorf("%+v: got %v", r.Endless, !c.differs)
		}
	}
	var none Summary
	if none.Add("two", same, nil); none.Differs() {
		t.Error("got a difference")
	}
}

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
		"then a.go:3 u: – | {ID:7 …}":                  {Writes: []Write{{Place: *place, Name: "u", Values: [2]string{"", unit}}}},
		"u is 3 | {ID:7 …}":                            {Reason: Value, Text: "u", Values: [2]string{"3", unit}},
		"take different paths from here: – | {ID:7 …}": {Reason: Flow, Values: [2]string{"", unit}},
		"becomes {ID:7 …}, and stays {ID:8 …}":         {Where: [2]*Place{nil, place}, Values: [2]string{"{ID:8 On:3}", unit}},
		"becomes {ID:7 A:1}, and stays {ID:7 B:1}":     {Where: [2]*Place{nil, place}, Values: [2]string{"{ID:7 B:1}", "{ID:7 A:1}"}},
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

// The JSON has every part of a result.
func TestResultJSON(t *testing.T) {
	at := Place{"a.go", 1, "f", "x++"}
	b, err := json.Marshal(&Result{
		Mode: Versions, Sides: [2]string{"A", "B"}, First: 1, Last: 3, Tick: 2, Fields: []Field{{Path: "Units[0].Health", Values: [2]string{"1", "2"}}},
		Phase: "combat", Panics: [2]string{"", "boom"}, Dropped: 7, Finding: &Finding{
			Reason: Value, Where: [2]*Place{&at, nil}, Text: "x", Entity: "Unit 1", Values: [2]string{"1", "2"}, Path: []Place{at}, First: &at, Written: &at, WrittenTick: 1,
			Writes: []Write{{Place: at, Name: "x", Text: "x++", Entity: "Unit 1", Seen: true}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields(`verdict mode sides first last tick fields path values phase panics finding reason where file line func source text entity
		written written_tick writes place name seen probes events dropped build_seconds run_seconds`) {
		if !strings.Contains(string(b), `"`+key+`":`) {
			t.Errorf("got no %s in %s", key, b)
		}
	}
}

package line

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
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

package probe

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recorded returns the events of f.
func recorded(tb testing.TB, f func()) (all []Event) {
	tb.Helper()
	var b bytes.Buffer
	Start(&b, nil, nil)
	f()
	n, err := Stop()
	if err != nil || n.Dropped > 0 {
		tb.Fatal(n, err)
	}
	for r := NewReader(&b); ; {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, e)
	}
	if len(all) != n.Events {
		tb.Errorf("got %d events, want %d", len(all), n.Events)
	}
	return all
}

type row struct {
	ID     uint32
	Health int32
}

func TestRecording(t *testing.T) {
	got := recorded(t, func() {
		u := &row{ID: 7, Health: 30}
		depth := Enter(1, u, 5)
		B(u.Health)
		u.Health = V(2, u.Health-1)
		R(3, u.Health, u)
		Leave(depth)
		S(4)
	})
	want := []Event{
		{Site: 1, Depth: 2, Entity: "row 7", Value: "&row 7, 5"},
		{Site: 2, Depth: 2, Entity: "row 7", Value: "29"},
		{Site: 3, Depth: 2, Entity: "row 7", Value: "29", Old: "30", Replaces: true},
		{Site: 4, Depth: 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Equal parts of two elements are told apart.
func TestPartOfElement(t *testing.T) {
	rows, list := []row{{7, 30}, {8, 30}}, []int64{5, 5}
	got := recorded(t, func() {
		Of(1, &rows[1].Health, &rows[1])
		Of(2, &list[1], 1)
	})
	want := []Event{{Site: 1, Depth: 1, Value: "&30 of row 8"}, {Site: 2, Depth: 1, Value: "&5 of 1"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A part of a list tells how much room there is behind it; an empty one does not.
func TestRoom(t *testing.T) {
	list := []int64{5, 6, 7}
	got := recorded(t, func() {
		L(1, list[:2])
		L(2, list[:0])
		L(3, "text"[:2])
	})
	want := []Event{{Site: 1, Depth: 1, Value: "[5 6] (room for 3)"}, {Site: 2, Depth: 1, Value: "[]"}, {Site: 3, Depth: 1, Value: `"te"`}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for text, want := range map[string]string{"[5 6] (room for 3)": "[5 6]", "[5 6] (room for 3)" + outside: "[5 6]" + outside, "[5 6]" + outside: "[5 6]" + outside, `"a (room for 3)"`: `"a (room for 3)"`} {
		if got := WithoutRoom(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// A panic that the rules recover from leaves the depth right.
func TestPanic(t *testing.T) {
	got := recorded(t, func() {
		func() {
			defer func() { _ = recover() }()
			defer Leave(Enter(1))
			B(1)
			panic("no W follows")
		}()
		B(5)
		R(2, 6, nil)
	})
	if last := got[len(got)-1]; last.Depth != 1 || last.Old != "5" {
		t.Errorf("got %+v, want depth 1 and the old value 5", last)
	}
}

// The events of a goroutine have a number of their own.
func TestGoroutines(t *testing.T) {
	got := recorded(t, func() {
		var done sync.WaitGroup
		done.Add(2)
		for range 2 {
			Spawn(1)
			go func() { defer done.Done(); defer Leave(Enter(2)); S(3) }()
		}
		done.Wait()
		S(4)
	})
	flows := map[uint64]int{}
	for _, e := range got {
		flows[e.Flow]++
	}
	if len(flows) != 3 || flows[0] != 3 {
		t.Errorf("got events by flow %v, want 3 of flow 0 and 2 each of two others", flows)
	}
}

func TestNothingIsRecorded(t *testing.T) {
	if On || V(1, 5) != 5 {
		t.Error("a probe without a recording does something")
	}
}

func TestFormat(t *testing.T) {
	long := make([]int32, 500)
	changed := slices.Clone(long)
	changed[499] = 1
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "nil"}, {true, "true"}, {-3, "-3"}, {uint8(200), "200"}, {"a\nb", `"a\nb"`},
		{math.Inf(1), "+Inf"}, {math.NaN(), "NaN"}, {float32(0.1), "0.1"},
		{row{1, 2}, "{ID:1 Health:2}"}, {&row{1, 2}, "&row 1"}, {(*row)(nil), "nil"},
		{&struct{ A, B int }{1, 2}, "&{A:1 B:2}"},
		{[]int{1, 2}, "[1 2]"}, {[]int(nil), "[]"}, {map[int]int{1: 2}, "map of 1 entries"},
		{func() {}, "func"}, {errors.New("x"), `&{s:"x"}`},
	} {
		if got := format(c.v); got != c.want {
			t.Errorf("%v: got %s, want %s", c.v, got, c.want)
		}
	}
	if format(long) == format(changed) || !strings.HasPrefix(format(long), "500 elements #") {
		t.Errorf("got %s and %s, want different texts", format(long), format(changed))
	}
}

// A recording that is cut short, or is something else, is an error and no more.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0, 1, 1, 1, 0, 1, 'a', 1, 'b'})
	f.Add([]byte{0, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		for r := NewReader(bytes.NewReader(b)); ; {
			if _, err := r.Next(); err != nil {
				if err != io.EOF && !errors.Is(err, ErrRecording) {
					t.Error(err)
				}
				return
			}
		}
	})
}

// A program may end in the middle of a recording that keeps nothing back.
func TestUnbuffered(t *testing.T) {
	defer func() { Unbuffered = false }()
	for _, at := range []bool{false, true} {
		var b bytes.Buffer
		Unbuffered = at
		Start(&b, nil, nil)
		S(1)
		if got := b.Len() > 0; got != at {
			t.Errorf("%v: got %d bytes before the end", at, b.Len())
		}
		if _, err := Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// The elements of a loop are in their own order in a recording, whatever order they are computed in, and also of a loop that never ends.
func TestElements(t *testing.T) {
	sites := func(order []int, join bool) (list []int) {
		var out bytes.Buffer
		Start(&out, nil, nil)
		S(100)
		for _, i := range order {
			Element(i, 3)
			S(i)
			S(10 + i)
		}
		if join {
			Join()
			S(200)
		}
		if n, err := Stop(); err != nil || n.Events < 7 {
			t.Errorf("got %d events, %v", n.Events, err)
		}
		for r := NewReader(&out); ; {
			e, err := r.Next()
			if err != nil {
				return list
			}
			list = append(list, e.Site)
		}
	}
	want := []int{100, 0, 10, 1, 11, 2, 12, 200}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		if got := sites(order, true); !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", order, got, want)
		}
		if got := sites(order, false); !slices.Equal(got, want[:7]) {
			t.Errorf("%v, without an end: got %v, want %v", order, got, want[:7])
		}
	}
}

package recorder_test

import (
	"go/parser"
	"math"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/recorder"
)

type vector struct{ X, Y float32 }

type body struct {
	vector
	Name  string
	kind  kind // a field need not be exported
	Flags [2]bool
	Trail []vector
	cache map[string]int `recorder:"-"`
	_     [3]byte
}

type kind int16

// The schema of a type is its text, and its values have the bytes that docs/spec/state.md defines.
func TestSchema(t *testing.T) {
	s, err := recorder.SchemaOf(&body{})
	if err != nil {
		t.Fatal(err)
	}
	const point = "struct { X float32; Y float32 }"
	want := "struct { vector " + point + "; Name string; kind int16; Flags [2]bool; Trail []" + point + " }"
	if s.String() != want {
		t.Errorf("got %s, want %s", s, want)
	}
	if _, err := parser.ParseExpr(s.String()); err != nil {
		t.Errorf("the text is no type of Go: %v", err)
	}
	v := body{vector: vector{1, -2}, Name: "é", kind: -2, Flags: [2]bool{false, true}, Trail: []vector{{0.5, 0}}, cache: map[string]int{"a": 1}}
	bytes := "\x00\x00\x80\x3f\x00\x00\x00\xc0" + "\x02\x00\x00\x00é" + "\xfe\xff" + "\x00\x01" + "\x01\x00\x00\x00\x00\x00\x00\x3f\x00\x00\x00\x00"
	if got := string(s.Append([]byte("before"), &v)); got != "before"+bytes {
		t.Errorf("got %x, want %x", got, "before"+bytes)
	}
	var parts []byte
	for i := range s.Fields() {
		parts = s.AppendField(parts, &v, i)
	}
	if string(parts) != bytes {
		t.Errorf("got the fields %x, want %x", parts, bytes)
	}
	buffer := make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() { buffer = s.Append(buffer[:0], &v) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// The bits of floats stay, also of those that are no numbers.
func TestFloatBits(t *testing.T) {
	type floats struct {
		A float32
		B float64
	}
	s, err := recorder.SchemaOf(floats{})
	if err != nil {
		t.Fatal(err)
	}
	v := floats{math.Float32frombits(0x7fc12345), math.Float64frombits(0xfff8000012345678)}
	if got, want := string(s.Append(nil, &v)), "\x45\x23\xc1\x7f\x78\x56\x34\x12\x00\x00\xf8\xff"; got != want {
		t.Errorf("got %x, want %x", got, want)
	}
}

type endless struct{ Next []endless }

// A type whose values differ between machines, or have no bytes, is refused with its path.
func TestSchemaRefusals(t *testing.T) {
	for _, row := range []struct {
		v    any
		want string
	}{
		{nil, "got <nil>, want a struct"},
		{5, "got int, want a struct"},
		{struct{ A struct{ B []int } }{}, ".A.B[]: got int, want a bool"},
		{struct{ A map[string]int8 }{}, ".A: got map[string]int8, want a bool"},
		{struct{ A *int8 }{}, ".A: got *int8"},
		{struct{ A uintptr }{}, ".A: got uintptr"},
		{struct{ A complex64 }{}, ".A: got complex64"},
		{struct{ A struct{} }{}, ".A: got a struct without fields"},
		{endless{}, ": nested deeper than 32"},
	} {
		if s, err := recorder.SchemaOf(row.v); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%T: got %v, %v, want %q", row.v, s, err, row.want)
		}
	}
	s, err := recorder.SchemaOf(vector{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{nil, vector{}, &body{}, 5} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a state %T is taken for a vector", v)
				}
			}()
			s.Append(nil, v)
		}()
	}
}

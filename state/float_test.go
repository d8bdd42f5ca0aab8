package state

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// floats returns the state of a schema with a float32 A and a float64 B.
func floats(a uint32, b uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, a), b)
}

var floatSchema = mustParseType("struct { A float32; B float64 }")

func mustParseType(text string) *Schema {
	s, err := ParseType(text)
	if err != nil {
		panic(err)
	}
	return s
}

// The oracle of the distance is the next float of package math.
func TestULPs(t *testing.T) {
	for _, from := range []float64{0, 1, 1.5, -1, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.MaxFloat64, 2, -0.75} {
		to := from
		for n := range 5 {
			d, err := floatSchema.Diff(floats(0, math.Float64bits(from)), floats(0, math.Float64bits(to)), 1)
			if err != nil || n > 0 && (d.Total != 1 || d.List[0].ULPs != ULPs(n)) {
				t.Errorf("%v to %v: got %+v, %v, want %d", from, to, d, err, n)
			}
			to = math.Nextafter(to, -math.MaxFloat64)
		}
	}
	one, next := math.Float32bits(1.5), math.Float32bits(math.Nextafter32(1.5, 2))
	d, err := floatSchema.Diff(floats(one, 0), floats(next, 1<<63|1), 2)
	if err != nil || len(d.List) != 2 || d.List[0].String() != "A: 1.5 != 1.5000001 (1 ulp)" || d.List[1].String() != "B: 0 != -5e-324 (1 ulp)" {
		t.Errorf("got %v, %v", d.List, err)
	}
	d, _ = floatSchema.Diff(floats(0, 1<<63-1), floats(1<<31, 1<<63), 2)
	if len(d.List) != 2 || d.List[0].String() != "A: 0 != -0" || d.List[1].String() != "B: NaN(0x7fffffffffffffff) != -0" {
		t.Errorf("zeros and a NaN: got %v", d.List)
	}
	places, err := floatSchema.DiffPlacesAt("", floats(one, 0), floats(one+3, 0))
	if err != nil || len(places.List) != 1 || places.List[0].String() != "A 1.5 → 1.5000004 (3 ulps)" {
		t.Errorf("got %v, %v", places.List, err)
	}
}

// The texts of floats are read back as the same bits.
func TestFloatJSON(t *testing.T) {
	for _, c := range []struct {
		a    uint32
		b    uint64
		want string
	}{
		{math.Float32bits(0.1), math.Float64bits(0.1), `{"A":0.1,"B":0.1}`},
		{1 << 31, math.Float64bits(1e300), `{"A":-0,"B":1e+300}`},
		{0x7f800000, 0xfff0000000000000, `{"A":"+Inf","B":"-Inf"}`},
		{0x7fc00001, 0xfff0000000000001, `{"A":"NaN(0x7fc00001)","B":"NaN(0xfff0000000000001)"}`},
	} {
		var got bytes.Buffer
		b := floats(c.a, c.b)
		if err := floatSchema.DumpJSON(&got, b); err != nil || strings.TrimSpace(got.String()) != c.want {
			t.Errorf("got %s, %v, want %s", &got, err, c.want)
		}
		if again, err := floatSchema.AppendJSON(nil, nil, got.Bytes(), 99); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s: read back as %x, %v, want %x", c.want, again, err, b)
		}
	}
	for _, bad := range []string{`"NaN"`, `1e39`, `"NaN(0x7fc00001"`, `"NaN(0x00000001)"`, `"x"`, `true`} {
		if _, err := floatSchema.AppendJSON(nil, nil, []byte(`{"A":`+bad+`}`), 99); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

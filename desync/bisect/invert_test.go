package bisect

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

type attic struct {
	Tick  uint32
	Boxes []struct {
		Open   bool
		Label  string
		Weight int16
		Things []uint8
	}
	Lamps [70]bool
	Note  string
	Last  int64
}

var atticCodec = state.MustCompile[attic]()

func newAttic() *attic {
	a := &attic{Tick: 9, Note: "dust", Last: -1}
	for i := range 5 {
		a.Boxes = append(a.Boxes, struct {
			Open   bool
			Label  string
			Weight int16
			Things []uint8
		}{i%2 == 0, "abc"[:i%4], int16(i), make([]uint8, 9*i)})
	}
	return a
}

func hashOf(tb testing.TB, snapshot []byte) uint64 {
	tb.Helper()
	var sum checksum.Sum
	if err := checksum.OfBytes(&sum, atticCodec.Schema(), snapshot); err != nil {
		tb.Fatal(err)
	}
	return sum.Hash
}

// An inverted bit in any invertible field is found, and inverting it back gives the state.
func TestInvert(t *testing.T) {
	s := atticCodec.Schema()
	own := atticCodec.Append(nil, newAttic())
	before := bytes.Clone(own)
	leaves, err := s.Leaves(own)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for v := range leaves {
		for i := range 8 * len(v.Bytes) {
			if v.Node.Kind() == state.Bool && i > 0 || v.Node.Kind() == state.String && i < 32 {
				continue
			}
			other := bytes.Clone(own)
			other[v.Offset+i/8] ^= 1 << (i % 8)
			if got := invert(s, own, hashOf(t, other), 1<<40, nil); !bytes.Equal(got, other) {
				t.Fatalf("bit %d of %s was not found", i, v.Path)
			}
			tried++
		}
	}
	if tried < 1000 || !bytes.Equal(own, before) {
		t.Errorf("%d bits were tried, and the state is the same: %v", tried, bytes.Equal(own, before))
	}
}

func TestInvertNothing(t *testing.T) {
	s := atticCodec.Schema()
	own := atticCodec.Append(nil, newAttic())
	w := newAttic()
	w.Tick, w.Last = 8, 7 // more than one bit
	done, all := int64(0), int64(0)
	if got := invert(s, own, hashOf(t, atticCodec.Append(nil, w)), 1<<40, func(d, a int64) { done, all = d, a }); got != nil {
		t.Errorf("got a state for a checksum that no single bit gives")
	}
	if done <= 0 || done > all {
		t.Errorf("progress %d of %d", done, all)
	}
	w = newAttic()
	w.Tick ^= 2
	if got := invert(s, own, hashOf(t, atticCodec.Append(nil, w)), 63, nil); got != nil {
		t.Error("a section of 4 bytes was searched with 63 bytes")
	}
	if got := invert(s, own, hashOf(t, atticCodec.Append(nil, w)), 64, nil); got == nil {
		t.Error("a section of 4 bytes was not searched with 64 bytes")
	}
	large := newAttic()
	large.Boxes[0].Things = make([]uint8, 16<<20)
	if got := invert(s, atticCodec.Append(nil, large), 1, 1<<62, nil); got != nil {
		t.Error("a state of 16 MiB was searched")
	}
	if got := invert(s, own[1:], 1, 1<<40, nil); got != nil {
		t.Error("got a state from malformed bytes")
	}
}

// A field had another value then and still has it later: the same value, or the same difference.
func TestTransfer(t *testing.T) {
	s := atticCodec.Schema()
	for _, test := range []struct {
		name        string
		then, later func(*attic)
	}{
		{"the same value", func(w *attic) { w.Boxes[2].Weight = 77 }, func(w *attic) { w.Boxes[2].Weight = 77 }},
		{"as much more", func(w *attic) { w.Last += 1000 }, func(w *attic) { w.Last += 1000 }},
		{"a bool", func(w *attic) { w.Lamps[69] = true }, func(w *attic) { w.Lamps[69] = true }},
		{"among others", func(w *attic) { w.Boxes[4].Things[3] = 9 }, func(w *attic) { w.Boxes[4].Things[3], w.Tick, w.Note = 9, 5, "" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			then, own, late := newAttic(), newAttic(), newAttic()
			own.Last, late.Last = 50, 50 // time has passed
			test.then(then)
			test.later(late)
			want := atticCodec.Append(nil, then)
			got := transfer(s, atticCodec.Append(nil, newAttic()), atticCodec.Append(nil, own), atticCodec.Append(nil, late), hashOf(t, want))
			if !bytes.Equal(got, want) {
				t.Errorf("got %x, want %x", got, want)
			}
		})
	}
	same := atticCodec.Append(nil, newAttic())
	if got := transfer(s, same, same, same, 1); got != nil {
		t.Error("got a state where nothing differs")
	}
}

package record

import (
	"testing"

	"github.com/seed-49bee653/samestep/state"
)

// A small value's memory is reused.
func TestPoolMemory(t *testing.T) {
	type blob struct{ Data []uint8 }
	p := &poolOf[blob]{codec: state.MustCompile[blob]()}
	for range 10 {
		for _, size := range []int{10, keepValue, 3} {
			if _, err := p.decode(p.codec.Append(nil, &blob{Data: make([]uint8, size)})); err != nil {
				t.Fatal(err)
			}
		}
		p.reset()
	}
	kept := 0
	for _, m := range p.items {
		kept += cap(m.Data)
	}
	if len(p.items) != 2 || kept > 100 {
		t.Errorf("got %d values of %d bytes kept, want 2 small ones", len(p.items), kept)
	}
}

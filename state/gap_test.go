package state

import (
	"slices"
	"testing"
)

func TestGaps(t *testing.T) {
	type point struct {
		X int32
		Y int16
	}
	c := MustCompile[struct {
		Small uint8 // a gap in the root costs nothing
		Units []struct {
			ID    uint32
			At    point
			cache uint32 `state:"derived"`
			Team  uint16
			Flag  uint8
		}
		Named []struct {
			Name string
			Flag bool
		}
		Origin point
		Grid   [2][2]point
		Dense  []struct{ A, B, C uint16 }
	}]()
	want := []Gap{{"Units[]", "At", 4}, {"Units[]", "Flag", 1}, {"Units[].At", "Y", 2}, {"Grid[][]", "Y", 2}}
	if got := c.Gaps(); !slices.Equal(got, want) {
		t.Errorf("gaps: %v, want %v", got, want)
	}
	if got := MustCompile[benchWorld[flatUnit]]().Gaps(); len(got) > 0 {
		t.Errorf("gaps in the flat unit: %v", got)
	}
	if got := MustCompile[benchWorld[paddedUnit]]().Gaps(); len(got) < 5 {
		t.Errorf("gaps in the padded unit: %v, want many", got)
	}
}

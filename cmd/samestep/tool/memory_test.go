//go:build !js

package tool

import "testing"

// The limit is above the memory in use.
func TestSoftLimit(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int64
	}{
		{0, softMemory},
		{29 << 20, softMemory},
		{56 << 20, 63 << 20},
		{1 << 30, 1152 << 20},
	} {
		if got := softLimit(c.live); got != c.want {
			t.Errorf("%d MiB in use: got %d MiB, want %d MiB", c.live>>20, got>>20, c.want>>20)
		}
	}
}

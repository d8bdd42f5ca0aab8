//go:build !js

package console

import "testing"

// The limit is above the memory in use.
func TestSoftLimit(t *testing.T) {
	for _, c := range []struct {
		least int64
		live  uint64
		want  int64
	}{
		{softMemory, 0, softMemory},
		{softMemory, 29 << 20, softMemory},
		{softMemory, 56 << 20, 63 << 20},
		{softMemory, 1 << 30, 1152 << 20},
		{moduleMemory, 56 << 20, moduleMemory},
	} {
		if got := softLimit(c.least, c.live); got != c.want {
			t.Errorf("%d MiB in use: got %d MiB, want %d MiB", c.live>>20, got>>20, c.want>>20)
		}
	}
}

//go:build !js

package engine

import "testing"

// A figure beyond its limit says so. A limit in words is none.
func TestBenchMisses(t *testing.T) {
	for _, row := range []struct {
		limit  string
		value  float64
		missed bool
	}{
		{"", 9, false}, {"<= 1.10", 1.1, false}, {"<= 1.10", 1.11, true}, {">= 200", 200, false}, {">= 200", 56.4, true}, {"0 a tick", 18, false},
	} {
		if got := (benchLine{Limit: row.limit, Value: row.value}).misses(); got != row.missed {
			t.Errorf("%g, limit %q: got missed %t", row.value, row.limit, got)
		}
	}
}

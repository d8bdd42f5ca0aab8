package fixedbench_test

import (
	"os"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/fixedbench"
)

// go test ./internal/testing/fixedbench -bench . -count 5
func BenchmarkPairs(b *testing.B) {
	for _, p := range fixedbench.Pairs {
		b.Run(p.Name+"/fixed", func(b *testing.B) { b.ReportAllocs(); p.Fixed(b.N) })
		b.Run(p.Name+"/float", func(b *testing.B) { p.Float(b.N) })
	}
}

func TestPairsAllocateNothing(t *testing.T) {
	for _, p := range fixedbench.Pairs {
		if n := testing.AllocsPerRun(1, func() { p.Fixed(2000) }); n != 0 {
			t.Errorf("%s: %v allocations, want 0", p.Name, n)
		}
	}
}

// TestRatios prints the table of ratios where SAMESTEP_RATIOS is set; it is how the figures of other machines are taken.
func TestRatios(t *testing.T) {
	if os.Getenv("SAMESTEP_RATIOS") == "" {
		t.Skip("SAMESTEP_RATIOS is not set")
	}
	for _, p := range fixedbench.Pairs {
		r := p.Measure(41, 40_000)
		t.Logf("%-12s %8.2f ns %8.2f ns %6.2fx, limit %.2f", p.Name, r.FixedNS, r.FloatNS, r.Ratio(), p.Limit())
	}
}

// Every row of limits names an operation. A row of a renamed operation would never be checked.
func TestLimitsHavePairs(t *testing.T) {
	rows := 0
	for _, p := range fixedbench.Pairs {
		if fixedbench.LimitOn(p, "amd64") > 0 {
			rows++
		}
		if got := fixedbench.LimitOn(p, "vax"); got != 0 {
			t.Errorf("limit of %s on an unknown architecture is %v, want 0", p.Name, got)
		}
	}
	if rows != fixedbench.LimitRows {
		t.Errorf("%d operations have limits, want %d", rows, fixedbench.LimitRows)
	}
}

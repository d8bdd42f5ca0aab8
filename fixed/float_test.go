package fixed_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

// Float64 and Float32 are the nearest floats, as math/big rounds them.
func TestFloats(t *testing.T) {
	for _, n := range append(inputs(201, 20_000), 1<<53+1, 1<<53+3, 1<<24+1, 1<<56+1<<32+1) {
		x := new(big.Rat).SetFrac(big.NewInt(int64(n)), big.NewInt(1<<32))
		if want, _ := x.Float64(); fixed.Q(n).Float64() != want {
			t.Fatalf("Q(%d).Float64() = %v, want %v", n, fixed.Q(n).Float64(), want)
		}
		if want, _ := x.Float32(); fixed.Q(n).Float32() != want {
			t.Fatalf("Q(%d).Float32() = %v, want %v", n, fixed.Q(n).Float32(), want)
		}
	}
}

// The constants are the nearest numbers to those of package math, whose constants have 60 digits.
func TestConstants(t *testing.T) {
	const unit = 1 << 32
	for _, row := range []struct {
		name string
		off  float64 // exact until here
	}{
		{"Pi", math.Pi*unit - float64(fixed.Pi)}, {"Tau", 2*math.Pi*unit - float64(fixed.Tau)}, {"E", math.E*unit - float64(fixed.E)},
		{"Phi", math.Phi*unit - float64(fixed.Phi)}, {"Sqrt2", math.Sqrt2*unit - float64(fixed.Sqrt2)}, {"Ln2", math.Ln2*unit - float64(fixed.Ln2)},
		{"Ln10", math.Ln10*unit - float64(fixed.Ln10)},
	} {
		if row.off < -0.5 || row.off > 0.5 {
			t.Errorf("%s is off by %v", row.name, row.off)
		}
	}
	if got := fixed.FromInt(3).Sqrt(); fixed.Sqrt3 != got { // correctly rounded, see TestArithmetic
		t.Errorf("Sqrt3 is %d, want %d", fixed.Sqrt3, got)
	}
}

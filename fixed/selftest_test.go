package fixed_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/fixed"
)

// Servers and clients compare the sum: it changes only with the numbers.
func TestSelfTest(t *testing.T) {
	const want = 0x2df152837c02c691
	if got := fixed.SelfTest(); got != want {
		t.Errorf("got %#x, want %#x", got, uint64(want))
	}
}

func BenchmarkSelfTest(b *testing.B) {
	for b.Loop() {
		fixed.SelfTest()
	}
}

// Machines that print different numbers must not play together.
func ExampleSelfTest() {
	fmt.Printf("%016x\n", fixed.SelfTest())
	// Output: 2df152837c02c691
}

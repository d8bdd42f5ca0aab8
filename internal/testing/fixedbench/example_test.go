package fixedbench_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/testing/fixedbench"
)

func ExamplePair() {
	p := fixedbench.Pairs[0]
	r := p.Measure(5, 1000)
	fmt.Println(p.Name, r.FixedNS > 0, r.FloatNS > 0, r.Ratio() > 0)
	// Output:
	// Mul true true true
}

package house

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/determinism"
)

// Our own simulations are clean by the analyzer that game authors run, and so is every function of the numbers that they
// compute with.
func TestDeterminism(t *testing.T) {
	needsGo(t)
	dir := ours(t).dir
	for _, row := range []struct {
		name    string
		options determinism.Options
		pattern []string
	}{
		{"games", determinism.Options{Dir: dir}, []string{"./examples/...", "./internal/nullgame", "./fuzz"}},
		{"numbers", determinism.Options{Dir: dir, All: true}, []string{"./fixed"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			found, err := determinism.Vet(row.options, row.pattern...)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				t.Error(f)
			}
		})
	}
}

//samestep:deterministic
package good

import (
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/fixed"
)

type world struct {
	seed uint64
	rand fixed.Rand
}

func dice(w *world) uint32 { return w.rand.N(6) }

func once(w *world, tick uint32) uint32 {
	return rand.New(rand.NewPCG(w.seed, uint64(tick))).Uint32N(6)
}

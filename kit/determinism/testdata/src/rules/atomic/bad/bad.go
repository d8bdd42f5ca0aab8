//samestep:deterministic
package bad

import "sync/atomic"

type world struct{ gold uint32 }

func earn(w *world) {
	atomic.AddUint32(&w.gold, 1) // want `atomic: `
}

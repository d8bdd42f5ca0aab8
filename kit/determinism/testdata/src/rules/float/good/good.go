//samestep:deterministic
package good

import "math"

const fraction = int64(0.75 * (1 << 32)) // computed by the compiler, exactly

func slow(speed int64) int64 { return speed * 3 / 4 }

func most() uint32 { return math.MaxUint32 - uint32(1e6) }

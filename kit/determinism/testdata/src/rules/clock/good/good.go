//samestep:deterministic
package good

import "time"

const tickTime = 50 * time.Millisecond

func age(ticks uint32) int64 { return int64(tickTime/time.Millisecond) * int64(ticks) }

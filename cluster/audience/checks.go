package audience

import "github.com/seed-49bee653/samestep/lockstep"

// checks has the agreed state hashes of the latest checked ticks in the log.
type checks struct {
	latest [64]check // the next one replaces the oldest
	next   int
}

type check struct {
	tick lockstep.Tick // 0 for none
	hash uint64
}

// add adds a check. A later one of the same tick replaces it.
func (c *checks) add(t lockstep.Tick, hash uint64) {
	for i := range c.latest {
		if c.latest[i].tick == t {
			c.latest[i].hash = hash
			return
		}
	}
	c.latest[c.next] = check{t, hash}
	c.next = (c.next + 1) % len(c.latest)
}

// find returns the agreed state hash of a tick.
func (c *checks) find(t lockstep.Tick) (hash uint64, known bool) {
	for i := range c.latest {
		if c.latest[i].tick == t && t > 0 {
			return c.latest[i].hash, true
		}
	}
	return 0, false
}

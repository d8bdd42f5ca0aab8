package pace

import "github.com/seed-49bee653/samestep/lockstep"

// A clock says when ticks are due: the n-th after start at start + n·100·each/percent.
type clock struct {
	running bool
	start   lockstep.Time
	n       int64 // ticks since start
	each    int64 // microseconds of a tick at 100 percent
	percent int64
}

// due returns when the next tick is due.
func (c *clock) due() lockstep.Time {
	return c.start + lockstep.Time((c.n+1)*100*c.each/c.percent)
}

func (c *clock) period() lockstep.Time {
	return lockstep.Time(100 * c.each / c.percent)
}

// restart makes the next tick due one period after now.
func (c *clock) restart(now lockstep.Time) { c.running, c.start, c.n = true, now, 0 }

// hold makes the next tick due a quarter of a period after now.
func (c *clock) hold(now lockstep.Time) { c.start, c.n = now-c.period()+c.period()/4, 0 }

// set changes the speed from the tick after the next one on.
func (c *clock) set(percent int64) {
	if percent != c.percent {
		c.start, c.n, c.percent = c.start+lockstep.Time(c.n*100*c.each/c.percent), 0, percent
	}
}

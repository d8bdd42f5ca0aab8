package playout

import (
	"github.com/seed-49bee653/samestep/lockstep"
)

// A jitter measures how late recent ticks arrived.
type jitter struct {
	mean lockstep.Time
	peak lockstep.Time // the second worst of the recent bursts: one alone proves nothing

	recent [jitterWindow]lockstep.Time
	next   int
	burst  lockstep.Time // when the present burst began
	worst  lockstep.Time // in it
}

const (
	jitterWindow = 256                      // bursts
	sameBurst    = 2 * lockstep.Millisecond // arrivals within it came together
)

// add counts the lateness of a tick. Ticks that arrive together had one cause and count once. Lateness above stall is
// ignored, because no buffer helps against it.
func (j *jitter) add(now, late, stall lockstep.Time) {
	if late > stall {
		return
	}
	j.mean += (late - j.mean) / 16
	if now-j.burst < sameBurst {
		j.worst = max(j.worst, late)
		return
	}
	j.recent[j.next] = j.worst
	j.next = (j.next + 1) % jitterWindow
	j.burst, j.worst = now, late
	var first, second lockstep.Time
	for _, t := range &j.recent {
		if t > first {
			first, second = t, first
		} else {
			second = max(second, t)
		}
	}
	j.peak = second
}

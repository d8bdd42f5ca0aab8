package budget

import (
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Rate allows N things in each interval Per, and at most Burst at once.
type Rate struct {
	N     int
	Per   lockstep.Time
	Burst int
}

// maxRate bounds N and Burst, so that the arithmetic of buckets cannot overflow.
const maxRate = 1 << 30

// Valid reports whether all fields are in range.
func (r Rate) Valid() bool {
	return r.N > 0 && r.N <= maxRate && r.Burst > 0 && r.Burst <= maxRate && r.Per > 0 && r.Per <= 60*lockstep.Second
}

// times returns n times the rate, at most maxRate.
func (r Rate) times(n int) Rate {
	r.N, r.Burst = int(min(int64(n)*int64(r.N), maxRate)), int(min(int64(n)*int64(r.Burst), maxRate))
	return r
}

// A Bucket counts the use of a [Rate]. The zero Bucket is full.
type Bucket struct {
	used lockstep.Time // Per for each thing, drained by N a microsecond
	at   lockstep.Time
}

// Take takes n things. It returns false, and takes nothing, if the rate does not allow them now.
func (b *Bucket) Take(now lockstep.Time, r Rate, n int) bool {
	b.drain(now, r)
	cost := lockstep.Time(min(n, maxRate)) * r.Per
	if b.used+cost > lockstep.Time(r.Burst)*r.Per {
		return false
	}
	b.used += cost
	return true
}

// Room returns the number of things that the rate allows now.
func (b *Bucket) Room(now lockstep.Time, r Rate) int {
	b.drain(now, r)
	return int(max(lockstep.Time(r.Burst)*r.Per-b.used, 0) / r.Per)
}

// percent returns how much of a rate is used, in percent of its burst, rounded up.
func (b *Bucket) percent(now lockstep.Time, r Rate) int {
	b.drain(now, r)
	most := lockstep.Time(r.Burst) * r.Per
	return int((100*b.used + most - 1) / most)
}

func (b *Bucket) drain(now lockstep.Time, r Rate) {
	dt := now - b.at
	b.at = now
	if dt > b.used/lockstep.Time(r.N) {
		b.used = 0
		return
	}
	b.used -= dt * lockstep.Time(r.N)
}

package player

import (
	"github.com/seed-49bee653/samestep/lockstep"
)

// A ReconnectPolicy says when a client that has lost its connection tries again. A
// connection that was live for five times First starts the policy anew. Zero fields
// have the defaults in brackets.
type ReconnectPolicy struct {
	First    lockstep.Time // from the loss to the first attempt (200 ms); each wait is twice the one before …
	Longest  lockstep.Time // … up to this (5 s); all vary by a fifth, so that not all clients come at once
	Attempts int           // before the client gives up (8)
	Total    lockstep.Time // from the loss to the last attempt (60 s)
}

func (l *ReconnectPolicy) defaults() {
	or(&l.First, 200*lockstep.Millisecond)
	or(&l.Longest, 5*lockstep.Second)
	or(&l.Attempts, 8)
	or(&l.Total, 60*lockstep.Second)
}

// A backoff counts the attempts of a client since it lost its connection.
type backoff struct {
	attempt int           // how many have begun since the loss
	since   lockstep.Time // the loss
	random  uint64
}

// lost notes the time of the loss, unless the client is dialing again already.
func (c *backoff) lost(now lockstep.Time) {
	if c.attempt == 0 {
		c.since = now
	}
}

// next returns when the next attempt is due, not before a span of time that the
// server asked for has passed, or reports that there is none.
func (c *backoff) next(l *ReconnectPolicy, now, after lockstep.Time) (at lockstep.Time, ok bool) {
	wait := l.First
	for range c.attempt {
		wait = min(2*wait, l.Longest)
	}
	wait = min(wait, l.Longest)
	wait = wait * lockstep.Time(80+c.draw()%41) / 100
	if after > wait {
		c.since += after // the server's wait is not ours
		wait = after
	}
	at = now + wait
	if c.attempt >= l.Attempts || at-c.since > l.Total {
		return 0, false
	}
	c.attempt++
	return at, true
}

// draw returns 32 bits of SplitMix64 (Steele, Lea, Flood 2014).
func (c *backoff) draw() uint64 {
	c.random += 0x9e3779b97f4a7c15
	z := c.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) >> 32
}

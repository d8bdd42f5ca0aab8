package dialing

import "github.com/seed-49bee653/samestep/lockstep"

// A Policy says when a link that was lost is tried again.
type Policy struct {
	First    lockstep.Time // from the loss to the first attempt; each wait is twice the one before …
	Longest  lockstep.Time // … up to this
	Attempts int           // before the link gives up
	Total    lockstep.Time // from the loss to the last attempt, besides the waits that the server asks for
}

// A backoff counts the attempts of a client since it lost its connection.
type backoff struct {
	attempt int           // how many have begun since the loss
	since   lockstep.Time // the loss
	random  uint64
}

// lost records the time of the loss, unless the client is dialing again already.
func (b *backoff) lost(now lockstep.Time) {
	if b.attempt == 0 {
		b.since = now
	}
}

// next returns when the next attempt is due, at the earliest after the wait that the server asked for, or false if
// there is none.
func (b *backoff) next(p *Policy, now, after lockstep.Time) (at lockstep.Time, ok bool) {
	wait := p.First
	for range b.attempt {
		wait = min(2*wait, p.Longest)
	}
	wait = min(wait, p.Longest)
	wait = wait * lockstep.Time(80+b.draw()%41) / 100
	if after > wait {
		b.since += after // the server's wait is not ours
		wait = after
	}
	at = now + wait
	if b.attempt >= p.Attempts || at-b.since > p.Total {
		return 0, false
	}
	b.attempt++
	return at, true
}

// draw returns 32 bits of SplitMix64 (Steele, Lea, Flood 2014).
func (b *backoff) draw() uint64 {
	b.random += 0x9e3779b97f4a7c15
	z := b.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) >> 32
}

package player

import (
	"math"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A ReconnectPolicy says when a client that has lost its connection tries again. A connection that was live for five
// times First resets it. Zero fields have the defaults in brackets.
type ReconnectPolicy struct {
	First    lockstep.Time // from the loss to the first attempt (200 ms); each wait is twice the one before …
	Longest  lockstep.Time // … up to this (5 s); all vary by a fifth, so that clients do not come all at once
	Attempts int           // before the client gives up (no limit); negative for none
	Total    lockstep.Time // from the loss to the last attempt (10 min), besides the waits that the server asks for
}

func (p *ReconnectPolicy) defaults() {
	or(&p.First, 200*lockstep.Millisecond)
	or(&p.Longest, 5*lockstep.Second)
	if p.Attempts == 0 {
		p.Attempts = math.MaxInt
	}
	or(&p.Total, 600*lockstep.Second)
}

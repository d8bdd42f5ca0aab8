package datagram

import "github.com/seed-49bee653/samestep/lockstep"

// RoundTrip returns the time from a datagram to its acknowledgement, smoothed.
func RoundTrip(p *Path) lockstep.Time { return p.rtt }

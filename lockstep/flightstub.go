package lockstep

import "github.com/seed-49bee653/samestep/lockstep/flight"

func (f *Follower) Flight() *flight.Ring { return f.options.Flight }

package cluster

import (
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// times are how long a member waits.
type times struct {
	flush     time.Duration // how long Flush waits
	silent    time.Duration // how long the store may be silent before this server asks the others whether they have the match
	away      time.Duration // and how long before it gives the match up
	elsewhere time.Duration // how long a lease cannot be renewed before the server connects to another node: this one may be cut off
	patience  time.Duration // how long a request waits for a match that is between two servers

	stray    lockstep.Time // how long a match that begins, or is over, may be in the directory and not run
	tryAgain lockstep.Time // the pause after each try before a server that could not continue a match tries again
}

// usualTimes are those of every member outside of tests. Nodes elect a leader within 9 s, so a match waits longer.
var usualTimes = times{
	flush: 3 * time.Second, silent: 1500 * time.Millisecond, away: 15 * time.Second, elsewhere: 5 * time.Second, patience: 5 * time.Second,
	stray: 10 * lockstep.Second, tryAgain: lockstep.Second,
}

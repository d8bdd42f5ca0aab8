package desync

import (
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Blame names one party that was wrong, and the ticks.
type Blame struct {
	Who    Party           `json:"who"`
	Player lockstep.Player `json:"player"` // set for WrongPlayer
	Checks int             `json:"checks"` // at which it was wrong
	First  lockstep.Tick   `json:"first"`  // of them
	Last   lockstep.Tick   `json:"last"`

	// Healed is the first check after Last, at which all was well again (a player
	// may also have been silent); 0 if there is none, so that it persists.
	Healed lockstep.Tick `json:"healed"`

	// Gone is the tick at which the player left, or lost the connection, before it
	// healed; 0 for nobody, and for a player who came back and agreed.
	Gone lockstep.Tick `json:"gone"`

	// Open tells that the verification stopped at First, so that nothing is known
	// of what follows.
	Open bool `json:"open"`
}

// A Party is who can be wrong.
type Party string

// The parties. See docs/desync.md for how they are told apart.
const (
	WrongPlayer   Party = "player"   // its own checksum, which the log has, is not the simulation's
	WrongReferee  Party = "referee"  // the agreed checksum is not the simulation's; most seats reported the simulation's, or the referee said that it was wrong
	WrongBuild    Party = "build"    // this build computes a checksum that nobody had, or the file was edited
	WrongKeyframe Party = "keyframe" // a keyframe, though the checksum of its tick is right
	WrongUnclear  Party = "unclear"  // exactly half of the seats reported the simulation's checksum
	WrongUnknown  Party = "unknown"
)

package desync

import (
	"github.com/seed-49bee653/samestep/lockstep"
)

// A Blame names one party that was wrong, and the ticks.
type Blame struct {
	Who    Party           `json:"who"`
	Player lockstep.Player `json:"player"` // set for WrongPlayer
	Checks int             `json:"checks"` // number of checks at which it was wrong
	First  lockstep.Tick   `json:"first"`  // the first of these checks
	Last   lockstep.Tick   `json:"last"`

	// Healed is the first check after Last at which the party was not wrong; a player may also have reported nothing
	// there. It is 0 if the party was wrong until the end.
	Healed lockstep.Tick `json:"healed"`

	// Gone is the tick at which the player left, or lost its connection, before it healed. It is 0 if the player
	// stayed, or came back.
	Gone lockstep.Tick `json:"gone"`

	// Open means that the verification stopped at First: later checks are not known.
	Open bool `json:"open"`
}

// A Party is a possible source of a desync.
type Party string

// The parties. The table in docs/desync.md shows how a check determines the party.
const (
	// WrongPlayer: the checksum that a player reported is not the simulation's.
	WrongPlayer Party = "player"

	// WrongReferee: the agreed checksum is not the simulation's, and more than half of the seats reported the
	// simulation's. At least one seat is enough if the referee has admitted its mistake.
	WrongReferee Party = "referee"

	// WrongBuild: the agreed checksum is not the simulation's, and fewer than half of the seats reported the
	// simulation's; or there is no agreed checksum, and no seat reported the simulation's; or a keyframe is not the
	// simulation's, and no later check exists. This build may differ, or the file was edited.
	WrongBuild Party = "build"

	// WrongKeyframe: a keyframe is not the simulation's, though the checksum of its tick or of the next check is.
	WrongKeyframe Party = "keyframe"

	// WrongUnclear: the agreed checksum is not the simulation's, and exactly half of the seats reported the simulation's.
	WrongUnclear Party = "unclear"

	// WrongUnknown: no party is known to be wrong.
	WrongUnknown Party = "unknown"

	// NoFixedResult: this build computes the same ticks otherwise each time, so that nobody is accused. See [Parting].
	NoFixedResult Party = "no fixed result"

	// TwoBuilds: the sides that differ are programs that are known to differ, and none is on two sides.
	TwoBuilds Party = "two builds"
)

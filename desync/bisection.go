package desync

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A Bisection says where two replays of one match part, or a replay and what
// somebody reported of it.
type Bisection struct {
	// Tick is the first tick whose states are known to differ, and Agreed the last
	// one before it at which they are known to be equal, unless Known is false:
	// then there is none. Exact tells that the states part at Tick, and nowhere
	// before.
	Tick   lockstep.Tick `json:"tick"`
	Agreed lockstep.Tick `json:"agreed"`
	Known  bool          `json:"known"`
	Exact  bool          `json:"exact"`

	// Cause is where the difference comes from.
	Cause Origin `json:"cause"`

	// Frame is the first tick whose commands differ, or nil.
	Frame *FrameDifference `json:"-"`

	// EditedA and EditedB tell, where the Cause is OriginCommands, that a side's next
	// checksum is not what its own commands give either: somebody changed the
	// commands and not the checksums.
	EditedA bool `json:"edited_a"`
	EditedB bool `json:"edited_b"`

	// Section is the first section of the state that differs at Tick, if that is
	// known.
	Section string `json:"section,omitempty"`

	// Fields are what differs in the states of tick FieldsTick: at Tick, or where
	// the other side's state of Tick is not known, at the next keyframe that it
	// has. Total is 0 if there is none.
	Fields     state.Places  `json:"fields"`
	FieldsTick lockstep.Tick `json:"fields_tick"`

	// Reconstructed tells that the other side's state of Tick is not known, and
	// that Fields were found by search: one field of the simulated state, which is
	// changed in one bit or as much as it differs at the next keyframe, so that the
	// state has exactly the other side's checksum.
	Reconstructed bool `json:"reconstructed"`

	// Simulated is how many ticks were simulated to find this out.
	Simulated int `json:"simulated"`
}

// An Origin is where two copies of a match begin to differ: in their commands, in
// a game, or in one of the copies.
type Origin string

// The origins. A and B are the two copies; the simulation is that of A's frames
// with the game at hand.
const (
	// OriginCommands: the frames differ.
	OriginCommands Origin = "commands"

	// OriginGames: the frames are the same, and the given games for A and for B
	// compute different states from them.
	OriginGames Origin = "games"

	// OriginA and OriginB: only this side differs from the simulation.
	OriginA Origin = "a"
	OriginB Origin = "b"

	// OriginBoth: both sides differ from the simulation.
	OriginBoth Origin = "both"

	// OriginStart: the first keyframes differ.
	OriginStart Origin = "beginning"

	// OriginUnknown: the match was not simulated, since the game is not at hand, or
	// since another game made both sides.
	OriginUnknown Origin = "unknown"
)

// BisectOptions say how to bisect.
type BisectOptions struct {
	replay.SimulateOptions

	// Other is the game that B's states are made with; nil means the same as A's.
	// It is how two versions of a game are compared.
	Other *lockstep.Game

	// MaxSearch is how many bytes may be hashed in search of a single inverted bit,
	// where a checksum is all that is known of the other side; 0 means
	// [DefaultMaxSearch], and less than 0 none. It takes half of the size of a
	// section for each of its bits.
	MaxSearch int64

	// SearchProgress is called from time to time with how many bytes were hashed
	// and how many there are, by one goroutine at a time; nil for nobody.
	SearchProgress func(done, all int64)
}

// DefaultMaxSearch is enough for a state of some 1,500 units: seconds.
const DefaultMaxSearch = 64 << 30

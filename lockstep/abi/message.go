package abi

import (
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A Match says which match an instance runs: of its settings, those that reach the simulation.
type Match struct {
	Seed       uint64
	Players    uint8
	TickMicros uint32
	Config     []byte // canonical bytes
}

// AssetList is the list of the assets of a match, see [record.Asset].
type AssetList struct{ Assets []record.Asset }

// Contents are the contents of the assets, in the order of their list.
type Contents struct{ Contents []Content }

// A Content is that of one asset.
type Content struct{ Bytes []byte }

// A State is the world of a tick.
type State struct {
	Tick      uint32
	Canonical []byte
}

// A Command is one of a player or of the engine, see [record.Command].
type Command struct {
	Tick     uint32
	Player   uint8
	Kind     uint16
	Sequence uint32
	Payload  []byte // canonical bytes
}

// A Frame is all commands of one tick, in canonical order.
type Frame struct {
	Tick     uint32
	Draws    bool // the outcome has the draws
	Phases   bool // the outcome has the phases
	Commands []Command
}

// An Outcome is what a step has made, apart from the world.
type Outcome struct {
	Ended  bool    // by the rules
	Result []byte  // canonical bytes; none without a result
	Draws  []Draw  // in order
	Phases []Phase // in order
}

// A Draw is a use of randomness.
type Draw struct {
	Purpose string
	Entity  uint32
	Phase   string
}

// A Phase is a part of the step, with the checksum of the world at its beginning.
type Phase struct {
	Name     string
	Hash     uint64
	Sections []uint64
}

// The codecs of the messages.
var (
	Matches  = state.MustCompile[Match]()
	Lists    = state.MustCompile[AssetList]()
	Loads    = state.MustCompile[Contents]()
	States   = state.MustCompile[State]()
	Commands = state.MustCompile[Command]()
	Frames   = state.MustCompile[Frame]()
	Outcomes = state.MustCompile[Outcome]()
)

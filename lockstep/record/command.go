package record

import (
	"cmp"
	"slices"
	"strconv"
)

// A Tick is one step of the simulation, and the only unit of time in this package. Tick 0 is the initial state. Frame t
// turns the state after tick t-1 into the state after tick t.
type Tick uint32

// MaxTick is the last possible tick of a match: 6.8 years at 20 ticks a second.
const MaxTick Tick = 1<<32 - 1 - 2*MaxInputDelay

// MaxInputDelay is the largest input delay, in ticks.
const MaxInputDelay = 250

// A Player is a seat of the match, 0 to [MaxPlayers]-1, or [System].
type Player uint8

const (
	// MaxPlayers is the largest number of seats a match can have.
	MaxPlayers = 250

	// System issues the commands that the coordinator itself puts into the log: joins, leaves, pauses. It has the
	// highest player number, so its commands run last in every tick: a player that leaves at tick t has commanded up to
	// and including t, and one that joins at t commands from t+1 on.
	System Player = 255
)

// MarshalJSON writes a player as a number. Without it, a list of players would become a string of bytes.
func (p Player) MarshalJSON() ([]byte, error) { return strconv.AppendUint(nil, uint64(p), 10), nil }

// A Sequence numbers the commands of one player, from 1 upwards.
type Sequence uint32

// A CommandKind says which registered type a command's payload has. The kinds of a game are its own; those of [System]
// are the engine's (see [Joined]).
type CommandKind uint16

// A Command is what a player wants to happen at a tick. Commands run in canonical order, which is (Tick, Player,
// Sequence); no two commands of a match are equal in all three.
type Command struct {
	Tick     Tick
	Player   Player
	Sequence Sequence
	Kind     CommandKind

	// Payload is the canonical bytes of the registered type, see package state.
	Payload []byte

	// Value is the decoded payload, a pointer to the registered type. The engine sets it on the commands of a
	// [lockstep.Turn] and on those given to a game's Validate and Describe, and reuses its memory after the call.
	Value any
}

// Compare orders commands canonically: negative if a runs before b, zero only if both are the same command.
func Compare(a, b *Command) int {
	return cmp.Or(
		cmp.Compare(a.Tick, b.Tick),
		cmp.Compare(a.Player, b.Player),
		cmp.Compare(a.Sequence, b.Sequence),
	)
}

// A Frame is all commands of one tick, in canonical order.
type Frame struct {
	Tick     Tick
	Commands []Command

	Asked bool // of a Panic in Validate: the rules are asked about the commands before they run; false of each frame of a log
}

// Clone returns a copy that shares no memory with f. Its commands have no Value.
func (f *Frame) Clone() *Frame {
	c := &Frame{Tick: f.Tick, Commands: slices.Clone(f.Commands), Asked: f.Asked}
	for i := range c.Commands {
		c.Commands[i].Payload, c.Commands[i].Value = slices.Clone(c.Commands[i].Payload), nil
	}
	return c
}

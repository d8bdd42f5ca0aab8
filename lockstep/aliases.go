package lockstep

import "github.com/seed-49bee653/samestep/lockstep/record"

// The values of a game and its commands are those of the log. Package record documents them.
type (
	// Tick is one step of the simulation, see [record.Tick].
	Tick = record.Tick
	// Player is a seat of the match, or [System], see [record.Player].
	Player = record.Player
	// Sequence numbers the commands of one player, see [record.Sequence].
	Sequence = record.Sequence
	// Kind identifies the registered type of a command's payload, see [record.CommandKind].
	Kind = record.CommandKind
	// Command is a player's intent at a tick, see [record.Command].
	Command = record.Command
	// CommandType is a kind, a name and a Go type, see [record.CommandType].
	CommandType = record.CommandType
	// Frame is all commands of one tick, see [record.Frame].
	Frame = record.Frame
	// Header is a log's first record, see [record.Header].
	Header = record.Header
	// MatchID identifies a match, see [record.MatchID].
	MatchID = record.MatchID
	// Settings are the engine's own parameters of a match, see [record.Settings].
	Settings = record.Settings
	// IdentityError tells why two machines cannot share a match, see [record.IdentityError].
	IdentityError = record.IdentityError
	// Asset names a file that a match needs, such as its map, see [record.Asset].
	Asset = record.Asset
	// Log takes the records of a match, see [record.Log].
	Log = record.Log
	// Time is a moment on the caller's clock or a duration, in microseconds, see [record.Time].
	Time = record.Time
)

// Units of [Time].
const (
	Millisecond = record.Millisecond
	Second      = record.Second
)

// The commands of [System], see package record.
type (
	Joined        = record.Joined
	Left          = record.Left
	Lost          = record.Lost
	TakenOver     = record.TakenOver
	Paused        = record.Paused
	Resumed       = record.Resumed
	SpeedSet      = record.SpeedSet
	InputDelaySet = record.InputDelaySet
)

// Limits and names of the log.
const (
	System       = record.System       // issues the commands of the engine itself, see [record.System]
	MaxPlayers   = record.MaxPlayers   // the largest number of seats of a match
	MaxTick      = record.MaxTick      // the last tick of a match
	MaxPayload   = record.MaxPayload   // the largest payload of a command, in bytes
	MaxStateSize = record.MaxStateSize // the largest state, in canonical bytes
	Engine       = record.Engine       // the name of this engine's rules, see [record.Engine]
)

// DefaultSettings returns the settings for a number of players: 20 ticks a second, a checksum every second and a keyframe
// every minute. The seed is 0: a server draws one for each match.
func DefaultSettings(players uint8) Settings { return record.DefaultSettings(players) }

// TickPeriod returns the TickMicros of [Settings] for a number of ticks per second, 1 to 1000.
func TickPeriod(rate uint16) uint32 { return record.TickPeriod(rate) }

// Type returns the command type of kind, with payloads of type M. See [record.CommandType.Limit] for how often a player may
// issue it.
func Type[M any](kind Kind, name string) CommandType { return record.Type[M](kind, name) }

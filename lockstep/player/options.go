package player

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Errors of a Client.
var (
	// ErrNotPlaying: the client has no seat, or not yet, or not any more.
	ErrNotPlaying = errors.New("lockstep: client: not playing")

	// ErrUnanswered: too much is waiting for the server; try again later.
	ErrUnanswered = errors.New("lockstep: client: too many without an answer")

	// ErrSilent: nothing was heard of the server for too long.
	ErrSilent = errors.New("lockstep: client: the server is silent")

	// ErrGaveUp: all attempts to connect have failed.
	ErrGaveUp = errors.New("lockstep: client: gave up")

	// ErrNoSync: the server sent no state that could be used.
	ErrNoSync = errors.New("lockstep: client: no usable state")

	// ErrWritten: a renderer has written to the match's state.
	ErrWritten = errors.New("lockstep: client: the renderer changed the state")

	// ErrClosed: the server ended the connection.
	ErrClosed = errors.New("lockstep: client: closed by the server")
)

// Options are a Client's policies. The zero value is sensible, but for
// the token.
type Options struct {
	Token string // identifies the client
	Seed  uint64 // varies the times of attempts to connect; draw it at random

	Reconnect ReconnectPolicy
	Pacing    PacingOptions

	// Predict runs the player's own commands at once, on a copy of the state
	// that is up to so many ticks ahead. 0: no prediction. Each tick costs a copy
	// of the state and up to so many ticks more.
	Predict lockstep.Tick

	// Interpolate keeps the state before the current one for [Client.View]. It
	// costs a copy of the state each tick.
	Interpolate bool

	// CheckRender makes [Client.Render] compare checksums before and after.
	CheckRender bool

	// KeepStates is how many checked ticks' states are kept so that the server
	// can ask for them after a desync; 0 means 8. They have the size of as many
	// snapshots.
	KeepStates int

	// MaxBacklog is how many bytes of records that have arrived and not been run
	// the client acknowledges; 0 means 1 MiB. With more it is silent, and the
	// server sees that it lags; at twice as many it drops them and asks for a
	// state. MaxState is how many bytes a state sync may have; 0 means what the
	// protocol allows. [Client.MemoryBound] has the formula.
	MaxBacklog int
	MaxState   int

	// PingEvery is the time between two pings (2 s). A server that is silent for
	// Silence (5 s) is given up.
	PingEvery lockstep.Time
	Silence   lockstep.Time

	// Observer is called with every event of the game of each confirmed tick;
	// nil disables it. After a state sync it may be told of some ticks again, and
	// is not told of those that the state has left out.
	Observer func(lockstep.Tick, any)
}

func (o *Options) defaults() {
	o.Reconnect.defaults()
	o.Pacing.defaults()
	or(&o.KeepStates, 8)
	or(&o.MaxBacklog, 1<<20)
	or(&o.MaxState, lockstep.MaxStateSize+protocol.MaxServerMessage)
	or(&o.PingEvery, 2*lockstep.Second)
	or(&o.Silence, 5*lockstep.Second)
}

// or sets a field that is not positive to its default.
func or[T ~int | ~int64 | ~uint32](field *T, otherwise T) {
	if *field <= 0 {
		*field = otherwise
	}
}

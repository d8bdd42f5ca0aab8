package player

import (
	"errors"
	"math"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player/internal/dialing"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/lockstep/twin"
)

// Errors of a Client.
var (
	// ErrNotPlaying: the client has no seat, or not yet, or not any more.
	ErrNotPlaying = errors.New("lockstep: client: not playing")

	// ErrUnanswered: too much is waiting for the server; try again later.
	ErrUnanswered = errors.New("lockstep: client: too many unanswered")

	// ErrSilent: the server sent nothing for too long.
	ErrSilent = errors.New("lockstep: client: the server is silent")

	// ErrGaveUp: all attempts to connect have failed.
	ErrGaveUp = dialing.ErrGaveUp

	// ErrNoSync: the server sent no state that could be used.
	ErrNoSync = errors.New("lockstep: client: no usable state")

	// ErrWritten: a renderer has written to the match's state.
	ErrWritten = errors.New("lockstep: client: the renderer changed the state")

	// ErrClosed: the server ended the connection.
	ErrClosed = errors.New("lockstep: client: closed by the server")
)

// Options are a Client's policies. The zero value is sensible, but for the token.
type Options struct {
	Token string // identifies the client
	Seed  uint64 // varies the times of attempts to connect; draw it at random

	Reconnect ReconnectPolicy
	Pacing    PacingOptions

	// Views asks for views of the match instead of the match: see [Client.Sight]. The client simulates nothing, and has no state.
	// The game must have views.
	Views bool

	// Extrapolate is for how long a [Sight] goes on in a straight line if the next view is late; 0 means that it stands still then.
	Extrapolate lockstep.Time

	// Predict is how many ticks ahead of the confirmed state the client runs the player's own commands, on a copy; 0
	// means that they show when they are confirmed. Each tick costs a copy of the state and up to Predict more ticks.
	Predict lockstep.Tick

	// PredictLate is over how many ticks the client goes on while they are late, as if nobody had given a command, at most 250; 0 means that
	// the picture stands still until they come. What then comes replaces what was predicted: a tick with a command costs a copy
	// of the state, up to Predict + PredictLate more ticks, and two checksums for [Status].Corrections. Spectators may set it, too.
	PredictLate lockstep.Tick

	// Interpolate keeps the state before the current one for [Client.Interpolation]. It costs a copy of the state each tick.
	Interpolate bool

	// CheckRender makes [Client.Render] compare checksums before and after.
	CheckRender bool

	// KeepStates is how many checked ticks' states the client keeps for the server, which asks for them after a desync;
	// 0 means 8. Each has the size of a snapshot.
	KeepStates int

	// Heavy compares the confirmed state with cold twins. What they find is an event, a [*twin.Difference]; its Found stays nil.
	Heavy twin.Options

	// Log is called with the match's records as they are run: the header and the state with which the client joined, and what
	// follows. A new state begins anew, with the header. The bytes are valid until it returns. Nil disables it.
	Log func(raw []byte)

	// MaxBacklog is how many bytes of records may wait to be run; 0 means 1 MiB. With more the client acknowledges
	// nothing, so the server sees that it lags; at twice as many it drops them and requests a state. MaxState is how
	// many bytes a state sync may have; 0 means the protocol's limit. See [Client.MemoryBound].
	MaxBacklog int
	MaxState   int

	// Unpack appends to dst what a piece of a state in DEFLATE form (RFC 1951) has, at most so many bytes; an error says that it is not one
	// whole piece. With it, the client names [protocol.Packed]. A [client.Session] has it.
	Unpack func(dst, piece []byte, most int) ([]byte, error)

	// PingEvery is the time between two pings (2 s). The client hangs up if the server sends nothing for Silence (5 s). While its
	// datagrams come, the stream may be silent for three times as long.
	PingEvery lockstep.Time
	Silence   lockstep.Time

	// Observer is called with every event of the game of each confirmed tick; nil disables it. After a state sync some
	// ticks may be observed again, and the ticks that the state skipped are not observed.
	Observer func(lockstep.Tick, any)
}

func (o *Options) defaults() {
	o.Reconnect.defaults()
	o.Pacing.defaults()
	o.PredictLate = min(o.PredictLate, record.MaxInputDelay)
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

// PacingOptions say when a client runs the ticks that have arrived. Zero fields have the defaults in brackets.
type PacingOptions struct {
	// AsTheyCome runs ticks at once, without a buffer, for programs without a display.
	AsTheyCome bool

	// MaxDelay bounds how long a tick waits so that later ones arrive before they are due (500 ms). The delay follows
	// the jitter that is observed.
	MaxDelay lockstep.Time

	// Behind is how late the client may be before it catches up at CatchUp percent of the match's speed (800), instead
	// of at most 5 % faster (250 ms).
	Behind  lockstep.Time
	CatchUp int

	// FarBehind is how late it may be before it runs as fast as it can, as after a late join (10 s).
	FarBehind lockstep.Time

	// Budget is how many ticks one call of Advance runs at most (32).
	Budget int
}

func (o *PacingOptions) defaults() {
	or(&o.MaxDelay, 500*lockstep.Millisecond)
	or(&o.Behind, 250*lockstep.Millisecond)
	if o.CatchUp <= 100 {
		o.CatchUp = 800
	}
	o.CatchUp = min(o.CatchUp, 100_000)
	or(&o.FarBehind, 10*lockstep.Second)
	or(&o.Budget, 32)
}

// A ReconnectPolicy says when a client that has lost its connection tries again. A connection that was live for five
// times First resets it. Zero fields have the defaults in brackets.
type ReconnectPolicy struct {
	First    lockstep.Time // from the loss to the first attempt (200 ms); each wait is twice the one before …
	Longest  lockstep.Time // … up to this (5 s); all vary by a fifth, so that clients do not come all at once
	Attempts int           // before the client gives up (no limit); negative for none
	Total    lockstep.Time // from the loss to the last attempt (10 min), besides the waits that the server asks for
}

func (p *ReconnectPolicy) defaults() {
	or(&p.First, 200*lockstep.Millisecond)
	or(&p.Longest, 5*lockstep.Second)
	if p.Attempts == 0 {
		p.Attempts = math.MaxInt
	}
	or(&p.Total, 600*lockstep.Second)
}

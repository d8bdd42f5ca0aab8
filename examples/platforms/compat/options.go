//go:build !js

package compat

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
)

// Limits of a connection.
const (
	maxMessage  = 16 << 10         // bytes of a message of a client
	authTimeout = 10 * time.Second // for its first message
	bucketDepth = 2 * time.Second  // of Options.Messages at once
)

// Options are the choices of a Bridge. A zero field has the default that its comment names.
type Options struct {
	// Match is the match of connections whose path names none, as /matches/NAME does: match-1.
	Match string

	// Strangers lets those watch whose token the server does not know. Otherwise they are turned away. The match must
	// allow anonymous spectators.
	Strangers bool

	Origins       []string      // hosts whose pages may connect from a browser, besides the server's own
	MaxPerAddress int           // connections of one address: 64
	Max           int           // connections in all: 256
	Messages      int           // messages that a connection may send in a second, twice as many at once: 100
	Patience      time.Duration // for a client that does not read: 10 s
	Log           *slog.Logger  // slog.Default()
}

// complete sets the defaults.
func (o *Options) complete() {
	o.Match = cmp.Or(o.Match, "match-1")
	o.MaxPerAddress = cmp.Or(o.MaxPerAddress, 64)
	o.Max = cmp.Or(o.Max, 256)
	o.Messages = cmp.Or(o.Messages, 100)
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	o.Log = cmp.Or(o.Log, slog.Default())
}

// Settings returns the usual settings of a match on that wire: 60 ticks a second, checksums every 100 ticks, and keyframes
// every 600. Its players are the caller's.
func Settings() lockstep.Settings {
	return lockstep.Settings{TickMicros: lockstep.TickPeriod(60), CheckEvery: 100, KeyframeEvery: 600}
}

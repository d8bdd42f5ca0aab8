//go:build !js

package mirror

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/seed-49bee653/samestep/cluster/audience"
	"github.com/seed-49bee653/samestep/server"
)

// Errors of a [Source] and of [Server.Follow].
var (
	ErrNoMatch = errors.New("mirror: no such match")
	ErrFull    = errors.New("mirror: too many matches")
	ErrClosed  = errors.New("mirror: shut down")
)

// Options configure a [Server]. A zero field has the default that its comment names.
type Options struct {
	Source Source // of the matches; required

	// Audience configures each match: its delay, the number of its spectators, and their limits.
	Audience audience.Options

	// Front has the limits of addresses and connections, the names of the host, the proxies and the origins, and an Authorizer for
	// the tokens of spectators; without one everybody may watch. Its other fields have no meaning here.
	Front server.Options

	MaxMatches     int           // 100
	MaxConnections int           // WebSockets: 16,384, at most three quarters of the file descriptors
	Idle           time.Duration // a match without spectators is followed for this long: 1 m
	Log            *slog.Logger  // slog.Default()

	darkAfter time.Duration // how long nothing may come of a match whose owner stores more: 10 s; tests wait less
}

func (o *Options) complete() {
	o.MaxMatches = cmp.Or(o.MaxMatches, 100)
	o.MaxConnections = cmp.Or(o.MaxConnections, 16<<10)
	o.Idle = cmp.Or(o.Idle, time.Minute)
	o.Log = cmp.Or(o.Log, slog.Default())
	o.darkAfter = cmp.Or(o.darkAfter, 10*time.Second)
	o.Front.Log = cmp.Or(o.Front.Log, o.Log)
	o.Front.MaxPerAddress = cmp.Or(o.Front.MaxPerAddress, 64)
	if o.Front.Descriptors > 0 {
		o.MaxConnections = min(o.MaxConnections, max(1, o.Front.Descriptors/4*3))
	}
}

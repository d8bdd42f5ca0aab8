//go:build !js

package mirror

import (
	"context"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A Source is where matches come from: an [Upstream] or a [Cluster].
type Source interface {
	// find looks a match up. The error is [ErrNoMatch] if there is none.
	find(ctx context.Context, name string) (found, error)

	// away returns why no match can be found right now, or "" if the source does not know of a reason.
	away() string
}

// found is a match of a Source.
type found interface {
	// follow begins to feed the audience of a match. The match's goroutine calls it, and the methods of the feed.
	follow(m *Match) feed
}

// A feed follows a match for its audience.
type feed interface {
	act()                // does what there is to do, without waiting; called after each input
	next() lockstep.Time // when to call act, unless there is an input before
	refresh()            // gets a new keyframe, if it can
	lag() lockstep.Tick  // ticks that the owner of the match has and the audience has not, as far as known

	// progress returns a number that changes with all that comes, and whether the owner of the match goes on, and has stored more.
	progress() (at uint64, behind bool)
	close()
}

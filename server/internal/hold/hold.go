package hold

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Reasons besides those of the log.
const (
	ByAdmin    = "an admin has paused the match"
	ForPlayers = protocol.HeldForReturn
)

// A Hold is what holds a match. The zero Hold holds none.
type Hold struct {
	paused bool
	until  lockstep.Time // until then it waits for players; 0 afterwards
}

// Pause pauses or resumes the match for an admin. It reports whether that is a change, which the log needs.
func (h *Hold) Pause(on bool) (changed bool) {
	changed = h.paused != on
	h.paused, h.until = on, 0
	return changed
}

// Paused reports whether an admin has paused the match.
func (h *Hold) Paused() bool { return h.paused }

// Await makes the match wait for its players.
func (h *Hold) Await(until lockstep.Time) { h.until = until }

// Awaiting reports whether Wait needs the awaited players.
func (h *Hold) Awaiting() bool { return h.until != 0 }

// Wait returns why the match stands still, if it does. log is the reason of its log, or "".
func (h *Hold) Wait(now lockstep.Time, log string, awaited []lockstep.Player) host.Wait {
	if now >= h.until || len(awaited) == 0 {
		h.until = 0
	}
	switch {
	case log != "":
		return host.Wait{Reason: log}
	case h.paused:
		return host.Wait{Reason: ByAdmin}
	case h.until != 0:
		return host.Wait{Reason: ForPlayers, Players: awaited, Until: h.until}
	}
	return host.Wait{}
}

// Wake returns when Wait has to be asked at the latest, at most next.
func (h *Hold) Wake(next lockstep.Time) lockstep.Time {
	if h.until != 0 {
		return min(next, h.until)
	}
	return next
}

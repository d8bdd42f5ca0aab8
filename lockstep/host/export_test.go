package host

import (
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// BySession returns the seat that a session resumes.
func BySession(h *Host, t protocol.SessionToken) (lockstep.Player, bool) { return h.seats.bySession(t) }

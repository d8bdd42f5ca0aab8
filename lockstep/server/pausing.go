package server

import (
	"errors"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// pause pauses or resumes the match for an admin, who needs no seat. Either ends the wait for players to come back.
// Resuming also ends or cancels the pause of a player.
func (m *Match) pause(on bool) error {
	if m.host.Err() != nil {
		return m.host.Err()
	}
	before := m.paused || m.awaits()
	m.paused, m.awaitUntil = on, time.Time{}
	m.hold()
	if on {
		return nil
	}
	err := m.host.Resume(m.now(), lockstep.System)
	if before && errors.Is(err, coordinator.ErrSeat) { // no player has paused it
		return nil
	}
	return err
}

package server

import (
	"errors"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// pause pauses or resumes the match for an admin, who needs no seat. Either ends the wait for players to come back.
// Resuming also ends or cancels the pause of a player. A pause outlives a restart of the server.
func (m *Match) pause(on bool) error {
	if m.host.Err() != nil {
		return m.host.Err()
	}
	before := m.holds.Wait(m.now(), "", m.host.Info().Awaited()).Reason != ""
	if m.holds.Pause(on) {
		text := host.PausedNo
		if on {
			text = host.PausedYes
		}
		m.log.Remember(lockstep.System, record.EventPaused, text)
	}
	m.hold()
	if on {
		return nil
	}
	err := m.host.Admin().Resume(m.now(), lockstep.System)
	if before && errors.Is(err, coordinator.ErrNotPaused) { // no player has paused it
		return nil
	}
	return err
}

// hold stops the match's ticks for as long as the server has a reason.
func (m *Match) hold() {
	var awaited []lockstep.Player
	if m.holds.Awaiting() {
		awaited = m.host.Info().Awaited()
	}
	m.host.Admin().Hold(m.now(), m.holds.Wait(m.now(), m.log.Held(), awaited))
}

package server

import (
	"cmp"
	"errors"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// pause pauses or resumes the match for an admin, who needs no seat. Either ends the wait for players to come back.
// Resuming also ends or cancels the pause of a player. A pause outlives a restart of the server.
func (m *Match) pause(on bool) error {
	if m.host.Err() != nil {
		return m.host.Err()
	}
	before := m.paused || m.awaits()
	changes := m.paused != on
	m.paused, m.awaitUntil = on, time.Time{}
	if changes {
		m.rememberPause()
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
	w := host.Wait{Reason: m.disk.held}
	if m.paused {
		w.Reason = cmp.Or(w.Reason, heldByAdmin)
	}
	if m.awaits() && w.Reason == "" {
		w = host.Wait{Reason: heldForPlayers, Players: m.host.Info().Awaited(), Until: lockstep.Time(m.awaitUntil.Sub(m.epoch).Microseconds())}
	}
	m.host.Admin().Hold(m.now(), w)
}

// awaits reports whether the match was recovered and still waits for its players.
func (m *Match) awaits() bool {
	if m.awaitUntil.IsZero() {
		return false
	}
	if time.Now().Before(m.awaitUntil) && len(m.host.Info().Awaited()) > 0 {
		return true
	}
	m.awaitUntil = time.Time{}
	return false
}

//go:build !js

package live

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/checks"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A heldCopy is a player whose copy does not go on up to the next check. So the commands of these ticks are known when the error
// is planted, and none of them removes it before the check.
type heldCopy struct {
	player  *demoPlayer
	records [][]byte
	frames  []lockstep.Frame
}

// hold lets a player's copy wait from this tick on.
func (m *demoMatch) hold(p *demoPlayer) { m.held = &heldCopy{player: p} }

// heldTurn keeps the frame of a tick for the player that waits. At a check it plants the error and lets the player go on. If no
// field keeps a change, it tries again up to the next check.
func (m *demoMatch) heldTurn(f *lockstep.Frame) error {
	h := m.held
	if h == nil {
		return nil
	}
	h.frames = append(h.frames, faultinjection.CloneFrame(f))
	if f.Tick%lockstep.Tick(m.coordinator.Referee().Header().Settings.CheckEvery) > 0 {
		return nil
	}
	err := m.plant(h)
	again := errors.Is(err, checks.ErrNothingLasts) && f.Tick < m.options.Length
	if err != nil && !again {
		return err
	}
	m.held = nil
	for _, record := range h.records {
		if err := h.player.follower.Append(record); err != nil && !m.expected(h.player, err) {
			return fmt.Errorf("player %d: %w", h.player.seat, err)
		}
	}
	if again {
		m.hold(h.player)
		return nil
	}
	return m.locate(h.player)
}

// plant changes one field of a player's copy.
func (m *demoMatch) plant(h *heldCopy) error {
	sim := h.player.follower.Simulation()
	b := sim.AppendState(nil)
	path, err := checks.Plantable(m.game, h.player.follower.Header(), sim.Tick(), b, h.frames)
	if err != nil {
		return err
	}
	v, err := m.game.StateSchema().Lookup(b, path)
	if err != nil {
		return err
	}
	v.Flip()
	m.planted = plantedError{Player: h.player.seat, Tick: sim.Tick() + 1, Path: path}
	return sim.Restore(sim.Tick(), b)
}

// locate records what the planted error did in its first tick.
func (m *demoMatch) locate(p *demoPlayer) error {
	x := &m.planted
	d, _, err := desync.DiffStates(m.game.StateSchema(), m.coordinator.Referee().State(x.Tick), p.follower.State(x.Tick), "")
	if err != nil {
		return err
	}
	if d.Total == 0 {
		return fmt.Errorf("demo: the error planted in %s changes nothing in tick %d", x.Path, x.Tick) // cannot happen: a trial has shown that it does
	}
	x.Path, x.Want, x.Got = d.List[0].Path, d.List[0].A, d.List[0].B
	return nil
}

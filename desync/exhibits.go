package desync

import (
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/state"
)

// A side is one side's state after a tick. Without bytes, it is unknown.
type side struct {
	bytes []byte
	hash  uint64
}

func (s *side) known() bool { return s.bytes != nil }

// An exhibit is both sides' state of one tick, checked against the schema.
type exhibit struct {
	tick    lockstep.Tick
	referee side
	player  side
}

// checkManifest refuses a table of contents that contradicts itself.
func checkManifest(m *replay.Manifest) error {
	switch {
	case m.Tick == 0:
		return fmt.Errorf("desync: %w: a desync at tick 0", replay.ErrBundle)
	case m.Agreed >= m.Tick:
		return fmt.Errorf("desync: %w: agreed at tick %d, want before tick %d", replay.ErrBundle, m.Agreed, m.Tick)
	case m.Began >= m.Tick:
		return fmt.Errorf("desync: %w: began at tick %d, want before tick %d", replay.ErrBundle, m.Began, m.Tick)
	case len(m.Exhibits) > maxExhibits:
		return fmt.Errorf("desync: %w: %d exhibits, want at most %d", replay.ErrBundle, len(m.Exhibits), maxExhibits)
	}
	for i := range m.Exhibits {
		t := m.Exhibits[i].Tick
		if t < m.Agreed || t > m.Tick || i > 0 && t <= m.Exhibits[i-1].Tick {
			return fmt.Errorf("desync: %w: exhibit %d is of tick %d, want ascending ones of ticks %d to %d", replay.ErrBundle, i, t, m.Agreed, m.Tick)
		}
	}
	if err := checkAgain(m); err != nil {
		return err
	}
	for i := range m.Groups {
		if _, err := checksum.ParseHash(m.Groups[i].Checksum); err != nil {
			return fmt.Errorf("desync: %w: group %d: %w", replay.ErrBundle, i, err)
		}
	}
	return nil
}

// loadExhibits reads the states in the bundle. It leaves out a state that does not match the schema, with a note.
func loadExhibits(b *replay.Bundle, s *state.Schema, most int, note func(string, ...any)) ([]exhibit, error) {
	var all []exhibit
	left := most
	load := func(name, whose string, t lockstep.Tick) (side, error) {
		if name == "" {
			return side{}, nil
		}
		p, err := b.State(name)
		if err != nil {
			return side{}, err
		}
		if left -= len(p); left < 0 {
			return side{}, fmt.Errorf("desync: %w: states of more than %d bytes in all", replay.ErrBundle, most)
		}
		var sum checksum.Sum
		if err := checksum.OfBytes(&sum, s, p); err != nil {
			note("the %s's state of tick %d is invalid: %v", whose, t, err)
			return side{}, nil
		}
		return side{p, sum.Hash}, nil
	}
	for i := range b.Manifest.Exhibits {
		m := &b.Manifest.Exhibits[i]
		x := exhibit{tick: m.Tick}
		var err error
		if x.referee, err = load(m.Referee, "referee", m.Tick); err != nil {
			return nil, err
		}
		if x.player, err = load(m.Player, "player", m.Tick); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

func hash(s side) string { return checksum.FormatHash(s.hash) }

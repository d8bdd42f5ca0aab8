package watch

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// maxBundled is the size of the replay in a bundle, in bytes.
const maxBundled = 256 << 20

func isBundle(file []byte) bool { return bytes.HasPrefix(file, []byte("PK\x03\x04")) }

// Open reads a whole replay file, keeps its bytes, and goes to its first tick. It plays a torn or damaged file up to
// the fault (see [About]). The replay is of one of the games: otherwise the error wraps a [*lockstep.IdentityError] of the
// game with the same name, or else of the first one. A file without a first state is [ErrEmpty]. Of a bundle of a desync, the
// Viewer shows the match, and [Viewer.Other] the state of the player; of one of a panic, it shows the match up to there, and About says
// the panic.
func Open(file []byte, games ...*lockstep.Game) (*Viewer, error) {
	if isBundle(file) {
		return openBundle(file, games)
	}
	return openReplay(file, games)
}

// openBundle opens a bundle. The other viewer has the player's states where the bundle has them, and simulates from them with the
// commands of the match.
func openBundle(file []byte, games []*lockstep.Game) (*Viewer, error) {
	b, err := replay.OpenBundle(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	match, err := b.Replay(maxBundled)
	if err != nil {
		return nil, err
	}
	v, err := openReplay(match, games)
	if err != nil {
		return nil, err
	}
	m := &b.Manifest
	if p := m.Panic; p != nil {
		v.damage = fmt.Errorf("the rules panicked in tick %d: %s", m.Tick, p.Text)
		if m.Player != lockstep.System {
			v.damage = fmt.Errorf("the rules panicked on the machine of player %d in tick %d: %s", m.Player, m.Tick, p.Text)
		}
		return v, nil
	}
	other, err := openReplay(match, games)
	if err != nil {
		return nil, err
	}
	if err := other.give(b); err != nil {
		return nil, err
	}
	if err := v.Compare(other); err != nil {
		return nil, err
	}
	v.pair.commands = nil // they have the same
	v.pair.note = fmt.Sprintf("The bundle has no state of player %d. Its checksum of tick %d differed.", m.Player, m.Tick)
	if len(other.given) > 0 {
		first := other.given[0].tick
		v.pair.same = max(first, v.First()+1) - 1
		v.pair.note = fmt.Sprintf("Player %d sent its state of tick %d. From there on it is simulated with the commands of the match; before, the match is shown. Both last agreed at tick %d.", m.Player, first, m.Agreed)
	}
	return v, nil
}

// give takes the states of the player from a bundle.
func (v *Viewer) give(b *replay.Bundle) error {
	for _, x := range b.Manifest.Exhibits {
		if x.Player == "" || x.Tick < v.First() || x.Tick > v.last {
			continue
		}
		state, err := b.State(x.Player)
		if err != nil {
			return err
		}
		if err := v.game.StateSchema().Validate(state); err != nil {
			return fmt.Errorf("watch: the player's state of tick %d: %w", x.Tick, err)
		}
		v.given = append(v.given, snapshot{x.Tick, state})
	}
	slices.SortFunc(v.given, func(a, b snapshot) int { return cmp.Compare(a.tick, b.tick) })
	v.given = slices.CompactFunc(v.given, func(a, b snapshot) bool { return a.tick == b.tick })
	if len(v.given) > 0 { // keyframes have the state of the match
		first := v.given[0].tick
		v.keyframes = slices.DeleteFunc(v.keyframes, func(t lockstep.Tick) bool { return t >= first && t != v.First() })
	}
	return nil
}

package hostile

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

type (
	world  struct{ A uint64 }
	config struct{ A uint8 }
)

// Native returns the game of the modules without their harm, and a configuration.
func Native() (*lockstep.Game, any) {
	return lockstep.MustGame(lockstep.Rules[world, config]{
		Name: Game, Build: Build,
		New:  func(*world, *lockstep.Settings, *config) error { return nil },
		Step: func(*world, *config, *lockstep.Turn) {},
	}), new(config)
}

// Replay returns the replay of a match of some ticks that has a module as its rules. A checksum that its player has reported differs.
func Replay(module []byte, ticks int) ([]byte, error) {
	b, _, _, err := record(module, ticks)
	return b, err
}

// Bundle returns the bundle of a desync in the match of Replay.
func Bundle(module []byte, ticks int) ([]byte, error) {
	b, h, r, err := record(module, ticks)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := &host.Evidence{Report: *r, Exhibits: []host.Exhibit{{Tick: r.Tick, Referee: make([]byte, 8), Player: []byte{1, 0, 0, 0, 0, 0, 0, 0}}}}
	err = replay.WriteBundle(&out, h, e, bytes.NewReader(b))
	return out.Bytes(), err
}

func record(module []byte, ticks int) ([]byte, *lockstep.Header, *coordinator.DesyncReport, error) {
	rules, err := replay.NewRules(module)
	if err != nil {
		return nil, nil, nil, err
	}
	game, c := Native()
	s := lockstep.DefaultSettings(3)
	s.Seed, s.CheckEvery, s.KeyframeEvery = 1, 20, 0
	h, err := game.NewHeader(lockstep.MatchID{1}, s, c)
	if err != nil {
		return nil, nil, nil, err
	}
	var out bytes.Buffer
	w := replay.NewWriter(&out, replay.WriterOptions{Rules: rules})
	match, err := coordinator.New(game, h, w, coordinator.Options{})
	if err != nil {
		return nil, nil, nil, err
	}
	for p := range lockstep.Player(3) {
		if _, err := match.Join(p); err != nil {
			return nil, nil, nil, err
		}
	}
	for range ticks {
		f, err := match.Tick()
		if err == nil && f.Tick%20 == 0 {
			err = reports(match, f.Tick, int(f.Tick)+20 > ticks)
		}
		if err != nil {
			return nil, nil, nil, err
		}
	}
	all := match.Desyncs()
	if err := errors.Join(match.End("over"), w.Close()); err != nil || len(all) == 0 {
		return nil, nil, nil, fmt.Errorf("hostile: %d desyncs: %w", len(all), err)
	}
	return out.Bytes(), h, all[0], nil
}

// reports reports the checksum of a tick for all players. That of player 0 may differ.
func reports(match *coordinator.Coordinator, t lockstep.Tick, differs bool) error {
	game, _ := Native()
	schema := game.StateSchema()
	for p := range lockstep.Player(3) {
		state := make([]byte, 8)
		if p == 0 && differs {
			state[0] = 1
		}
		var sum checksum.Sum
		if err := checksum.OfBytes(&sum, schema, state); err != nil {
			return err
		}
		if err := match.Report(p, t, &sum); err != nil {
			return err
		}
	}
	return nil
}

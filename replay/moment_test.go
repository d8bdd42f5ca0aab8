package replay_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// The state of each tick is the one that playing the match gives.
func TestStateAt(t *testing.T) {
	g, file, _ := record(t, 130, replay.WriterOptions{FlushTicks: 10})
	states := [][]byte{nil}
	f := g.NewFollower(lockstep.FollowerOptions{History: lockstep.HistoryOptions{Length: 200, EveryTick: true, States: true}})
	if err := replay.Play(open(t, file), f, nil); err != nil {
		t.Fatal(err)
	}
	for tick := lockstep.Tick(1); tick <= 130; tick++ {
		states = append(states, f.State(tick))
	}
	calls := 0
	o := replay.SimulateOptions{MaxTicks: 49, Progress: func(done, all lockstep.Tick) {
		if calls++; done > all {
			t.Errorf("%d of %d", done, all)
		}
	}}
	for tick := lockstep.Tick(1); tick <= 130; tick++ {
		m, err := replay.StateAt(open(t, file), g, tick, o)
		if err != nil {
			t.Fatal(err)
		}
		sum, _ := f.Sum(tick)
		if !bytes.Equal(m.State, states[tick]) || m.Root != sum.Root || m.Tick != tick || m.Keyframe != tick/50*50 || m.Header == nil {
			t.Errorf("tick %d: another state, from keyframe %d", tick, m.Keyframe)
		}
	}
	if calls == 0 {
		t.Error("nobody was told of progress")
	}

	if _, err := replay.StateAt(open(t, file), g, 99, replay.SimulateOptions{MaxTicks: 48}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("49 ticks where 48 are allowed: got error %v, want %v", err, replay.ErrLimit)
	}
	if _, err := replay.StateAt(open(t, file), nil, 99, replay.SimulateOptions{}); !errors.Is(err, replay.ErrNoGame) {
		t.Errorf("without the game: got error %v, want %v", err, replay.ErrNoGame)
	}
	if m, err := replay.StateAt(open(t, file), nil, 100, replay.SimulateOptions{}); err != nil || !bytes.Equal(m.State, states[100]) {
		t.Errorf("a keyframe without the game: got error %v", err)
	}
	for _, game := range []*lockstep.Game{g, nil} {
		_, err := replay.StateAt(open(t, file), game, 131, replay.SimulateOptions{})
		var missing *replay.TickError
		if !errors.As(err, &missing) || *missing != (replay.TickError{Tick: 131, First: 0, Last: 130}) {
			t.Errorf("after the end: got error %v, want a *TickError", err)
		}
		_, err = replay.StateAt(open(t, file[:len(file)-100]), game, 130, replay.SimulateOptions{})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after the tear: got error %v, want %v", err, io.ErrUnexpectedEOF)
		}
	}
}

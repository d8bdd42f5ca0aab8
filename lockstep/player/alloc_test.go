// The other engine of package state uses reflection, and that allocates.

//go:build !samestep_portable && (386 || amd64 || arm64 || wasm)

package player_test

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// In the steady state a tick allocates nothing: not in the coordinator with its referee, checks and keyframes, and not
// in a follower.
func TestNoAllocations(t *testing.T) {
	for name, o := range map[string]coordinator.Options{
		"referee":    {InputDelay: 3},
		"relay":      {InputDelay: 3, Relay: true},
		"long delay": {InputDelay: 100},
		"observed":   {Referee: lockstep.FollowerOptions{History: lockstep.HistoryOptions{EveryTick: true, States: true}}},
	} {
		p := newPlay(t, 8, testgame.Discard{}, o)
		for range 300 {
			p.tick(16)
		}
		if n := testing.AllocsPerRun(200, func() { p.tick(16) }); n != 0 {
			t.Errorf("coordinator, %s: got %v allocations a tick, want 0", name, n)
		}
	}
}

func TestFollowerAllocations(t *testing.T) {
	var records [][]byte
	p := newPlay(t, 8, testgame.LogFunc(func(r []byte) { records = append(records, bytes.Clone(r)) }), coordinator.Options{})
	for range 600 {
		p.tick(16)
	}
	f := p.game.NewFollower(lockstep.FollowerOptions{})
	next := 0
	apply := func() {
		if err := f.Append(records[next]); err != nil {
			t.Fatal(err)
		}
		next++
	}
	for next < 200 {
		apply()
	}
	n := testing.AllocsPerRun(300, apply)
	// The last sequences of a later keyframe are decoded into new memory: at most one allocation in 20 ticks here, in a
	// minute by default.
	if n != 0 {
		t.Errorf("follower: got %v allocations a record, want 0", n)
	}
}

// Nothing is allocated in a tick: receiving, running, predicting and sending, also if each tick is late and has a command.
func TestClientTickAllocatesNothing(t *testing.T) {
	for _, late := range []int{0, 3} {
		f := newFeed(t, player.Options{Interpolate: true, Predict: 6, PredictLate: 6})
		f.play(50, func(int) lockstep.Time { return 0 })
		var frames [][]byte
		other := newGiver(f, 1)
		const runs = 300
		for range runs + 1 {
			if late > 0 {
				other.earn(1)
			}
			if _, err := f.c.Tick(); err != nil {
				t.Fatal(err)
			}
			frames = append(frames, bytes.Clone(f.pending))
			f.pending = f.pending[:0]
		}
		f.ran = append(make([]lockstep.Time, 0, 4*runs), f.ran...)
		for range late {
			f.now += feedPeriod
			f.settle()
		}
		i := 0
		got := testing.AllocsPerRun(runs, func() {
			f.now += feedPeriod / 2
			f.settle()
			f.now += feedPeriod / 2
			f.give(frames[i])
			i++
		})
		if s := f.client.Status(); got > 0 || late > 0 && s.Rollbacks < runs/2 {
			t.Errorf("%d late: got %v allocations per tick, want 0, and %d rollbacks", late, got, s.Rollbacks)
		}
	}
}

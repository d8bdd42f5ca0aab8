// The other engine of package state uses reflection, and that allocates.

//go:build !samestep_portable && (386 || amd64 || arm64 || wasm)

package replay_test

import (
	"io"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// In the steady state a tick allocates nothing in the coordinator, log, writer, follower and checksum reports, for a
// game of a few bytes and for a real one. Rules with views allocate the view that a command is judged by.
func TestNoAllocations(t *testing.T) {
	dotGame := lockstep.MustGame(dotsRules())
	t.Run("dots", func(t *testing.T) {
		noAllocations(t, dotGame, &dotsConfig{Count: 4}, func(t lockstep.Tick, _ *lockstep.Simulation) any {
			return &walk{Dot: uint8(t), X: int8(t % 100), Y: -1}
		})
	})
	t.Run("skirmish", func(t *testing.T) {
		config := skirmish.Defaults(2, 400)
		rules := skirmish.Rules()
		rules.View, rules.ViewOf = lockstep.ViewType{}, nil
		noAllocations(t, lockstep.MustGame(rules), &config, func(t lockstep.Tick, sim *lockstep.Simulation) any {
			w := lockstep.World[skirmish.World](sim)
			middle := fixed.FromInt(int64(w.Map.Size) / 2)
			to := skirmish.PointAt(fixed.Vec2{X: middle, Y: middle})
			if t < 9 { // to battle
				return &skirmish.AttackMove{Who: skirmish.Who{Group: uint8(1 + t/2)}, To: to}
			}
			for i := range w.Units {
				if u := &w.Units[i]; u.Kind == skirmish.Base && lockstep.Tick(u.Owner) == (t+1)%2 {
					return &skirmish.Move{Who: skirmish.Who{Units: []skirmish.UnitID{u.ID}}, To: to}
				}
			}
			return nil
		})
	})
}

func noAllocations(t *testing.T, g *lockstep.Game, config any, command func(lockstep.Tick, *lockstep.Simulation) any) {
	s := lockstep.DefaultSettings(2)
	s.CheckEvery, s.KeyframeEvery = 1, 0
	h, err := g.NewHeader(lockstep.MatchID{3}, s, config)
	if err != nil {
		t.Fatal(err)
	}
	follower := g.NewFollower(lockstep.FollowerOptions{})
	writer := replay.NewWriter(io.Discard, replay.WriterOptions{})
	c, err := coordinator.New(g, h, record.Tee(writer, follower), coordinator.Options{InputDelay: 2})
	if err != nil {
		t.Fatal(err)
	}
	for p := range lockstep.Player(2) {
		if _, err := c.Join(p); err != nil {
			t.Fatal(err)
		}
	}
	const warmUp, ticks = 400, 200
	sequences := [2]lockstep.Sequence{}
	payloads := g.NewPayloads()
	kinds, commands := make([]lockstep.Kind, warmUp+2*ticks), make([][]byte, warmUp+2*ticks)
	tick := lockstep.Tick(0)
	accepted := 0
	advance := func(n int) {
		for range n {
			i := tick
			tick++
			p := lockstep.Player(tick % 2)
			sequences[p]++
			if c.Submit(p, sequences[p], kinds[i], commands[i]).Reason == lockstep.Accepted {
				accepted++
			}
			if _, err := c.Tick(); err != nil {
				t.Fatal(err)
			}
			sum, _ := follower.Sum(tick)
			if err := c.Report(p, tick, sum); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range kinds {
		kind, payload, err := payloads.Encode(command(lockstep.Tick(i), follower.Simulation()))
		if err != nil {
			t.Fatal(err)
		}
		kinds[i], commands[i] = kind, append([]byte{}, payload...)
	}
	advance(warmUp)
	if n := testing.AllocsPerRun(1, func() { advance(ticks) }); n != 0 {
		t.Errorf("%v allocations in %d ticks, want 0", n, ticks)
	}
	if want := warmUp + 2*ticks; accepted < want-4 || c.Now() != lockstep.Tick(want) {
		t.Errorf("%d commands accepted, %d ticks", accepted, c.Now())
	}
	if follower.Simulation().Hash() != c.Referee().Simulation().Hash() {
		t.Error("the follower has another state")
	}
}

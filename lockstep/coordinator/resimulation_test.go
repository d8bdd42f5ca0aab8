package coordinator_test

import (
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
)

// outcomes returns the outcomes in the desync reports of a coordinator.
func outcomes(c *coordinator.Coordinator) (all []coordinator.Resimulation) {
	for _, r := range c.Desyncs() {
		all = append(all, r.Resimulation)
	}
	return all
}

// emptyFrames has a frame without commands for each tick.
func emptyFrames(from, to lockstep.Tick) (all []lockstep.Frame) {
	for at := from + 1; at <= to; at++ {
		all = append(all, lockstep.Frame{Tick: at})
	}
	return all
}

// onTrial returns a coordinator of two players and empty frames, whose referee can compute each tick again.
func onTrial(t *testing.T, game *lockstep.Game, header *lockstep.Header) *coordinator.Coordinator {
	t.Helper()
	c, err := coordinator.New(game, header, &testgame.Records{}, coordinator.Options{
		Referee: lockstep.FollowerOptions{History: lockstep.HistoryOptions{States: true}},
		Frames:  emptyFrames,
	})
	if err != nil {
		t.Fatal(err)
	}
	testgame.Does(t)(c.Join(0))
	testgame.Does(t)(c.Join(1))
	return c
}

// A game that is not deterministic is distinguished from a flipped bit.
func TestResimulationOfAnotherResultEachTime(t *testing.T) {
	rules := testgame.LampRules
	draws := uint32(0)
	rules.Step = func(w *testgame.Lamps, _ *testgame.Nobody, turn *lockstep.Turn) {
		draws++
		w.Presses = draws
	}
	game := lockstep.MustGame(rules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		t.Fatal(err)
	}
	c := onTrial(t, game, header)
	for range 40 {
		if _, err := c.Tick(); err != nil {
			t.Fatal(err)
		}
	}
	var sum checksum.Sum
	c.Referee().Simulation().Sum(&sum)
	sum.Hash++
	if err := c.Report(0, 40, &sum); err != nil {
		t.Fatal(err)
	}
	if got := outcomes(c); len(got) != 1 || got[0] != coordinator.NeitherRight {
		t.Errorf("got %v, want one that neither is right", got)
	}
}

// A re-simulation does not make the referee trusted from then on: not if it is wrong a second time, and not from the
// tick at which a liar agreed with it.
func TestResimulationAfterResimulation(t *testing.T) {
	game := lockstep.MustGame(testgame.LampRules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		t.Fatal(err)
	}
	every := lockstep.Tick(header.Settings.CheckEvery)
	for _, name := range []string{"wrong again", "a liar agreed", "the first report of a new player"} {
		t.Run(name, func(t *testing.T) {
			c, right := onTrial(t, game, header), onTrial(t, game, header)
			sums := map[lockstep.Tick]*checksum.Sum{}
			wrong := map[lockstep.Tick]*checksum.Sum{}
			run := func(to lockstep.Tick) {
				for c.Now() < to {
					for _, x := range []*coordinator.Coordinator{c, right} {
						if _, err := x.Tick(); err != nil {
							t.Fatal(err)
						}
					}
					sums[c.Now()], wrong[c.Now()] = new(checksum.Sum), new(checksum.Sum)
					right.Referee().Simulation().Sum(sums[c.Now()])
					c.Referee().Simulation().Sum(wrong[c.Now()])
				}
			}
			flip := func() {
				lockstep.World[testgame.Lamps](c.Referee().Simulation()).Presses ^= 1
			}
			report := func(p lockstep.Player, tick lockstep.Tick, sum *checksum.Sum) {
				if err := c.Report(p, tick, sum); err != nil {
					t.Fatal(err)
				}
			}
			run(2*every + 3)
			report(0, 2*every, sums[2*every])
			if name == "the first report of a new player" {
				report(1, 2*every, sums[2*every])
				run(3*every + 3)
			}
			flip()
			switch name {
			case "wrong again":
				run(3*every + 5)
				report(0, 3*every, sums[3*every])
				run(3*every + 7)
				flip()
				run(4*every + 5)
				report(0, 4*every, sums[4*every])
				if got := outcomes(c); len(got) != 2 || got[0] != coordinator.RefereeWrong || got[1] != coordinator.RefereeWrong {
					t.Errorf("got %v, want two that the referee was wrong", got)
				}
			case "the first report of a new player": // who has agreed at no tick, and the earlier states are released
				testgame.Does(t)(c.Leave(1))
				testgame.Does(t)(right.Leave(1))
				run(3*every + 6)
				testgame.Does(t)(c.Join(1))
				testgame.Does(t)(right.Join(1))
				run(4*every + 5)
				report(1, 4*every, sums[4*every])
				if got := outcomes(c); len(got) != 1 || got[0] != coordinator.RefereeWrong {
					t.Errorf("got %v, want one that the referee was wrong", got)
				}
			case "a liar agreed":
				run(4*every + 5)
				report(1, 3*every, wrong[3*every])
				lie := *wrong[4*every]
				lie.Hash++
				report(1, 4*every, &lie)
				report(0, 3*every, sums[3*every])
				if got := outcomes(c); !slices.Contains(got, coordinator.RefereeWrong) || c.Referee().Simulation().Hash() != right.Referee().Simulation().Hash() {
					t.Errorf("got %v, want that the referee was wrong, and has the right state", got)
				}
			}
		})
	}
}

// The referee keeps no state from before a check at which all players agreed, and all of them while one is silent.
func TestStatesReleased(t *testing.T) {
	game := lockstep.MustGame(testgame.LampRules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		t.Fatal(err)
	}
	c := onTrial(t, game, header)
	every := lockstep.Tick(header.Settings.CheckEvery)
	check := func(players ...lockstep.Player) {
		t.Helper()
		for range every {
			if _, err := c.Tick(); err != nil {
				t.Fatal(err)
			}
		}
		sum, ok := c.Referee().Sum(c.Now())
		if !ok {
			t.Fatalf("tick %d: no checksum", c.Now())
		}
		for _, p := range players {
			if err := c.Report(p, c.Now(), sum); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept := func() (n int) {
		for at := lockstep.Tick(0); at <= c.Now(); at += every {
			if c.Referee().State(at) != nil {
				n++
			}
		}
		return n
	}
	check(0)
	check(0)
	if got := kept(); got != 3 {
		t.Errorf("player 1 is silent: got %d states, want all 3", got)
	}
	check(0, 1)
	check(0, 1)
	check(0)
	if got := kept(); got != 2 || c.Referee().State(4*every) == nil {
		t.Errorf("both agreed at the last check but one: got %d states, want that one and the last", got)
	}
	if _, ok := c.Referee().Sum(every); !ok {
		t.Error("an early checksum is gone")
	}
}

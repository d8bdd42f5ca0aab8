package player_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Prediction changes only the displayed state: runs with and without it have the same bytes and the same confirmed
// states.
func TestPredictionIsNotSeenByOthers(t *testing.T) {
	run := func(seed uint64, predict lockstep.Tick) (trace uint64, hashes []uint64) {
		c := newCluster(t, seed, nil, nil)
		c.players(3, player.Options{Predict: predict, Interpolate: predict > 0})
		for range 4 {
			c.run(2 * lockstep.Second)
			c.any().cut(true, true)
		}
		c.finish()
		for _, m := range c.machines {
			hashes = append(hashes, m.client.Simulation().Hash())
			if p := m.client.Predicted(); (p != nil) != (predict > 0) {
				t.Errorf("predict %d: got a predicted state %t", predict, p != nil)
			}
		}
		return c.trace.Sum64(), hashes
	}
	for seed := range uint64(3) {
		with, a := run(seed, 12)
		without, b := run(seed, 0)
		if with != without {
			t.Errorf("seed %d: the bytes on the network differ", seed)
		}
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("seed %d: player %d has another state with prediction", seed, i)
			}
		}
	}
}

// Commands run in the tick in which the prediction shows them, whatever the latency: few of them correct it.
func TestCommandsRunAsPredicted(t *testing.T) {
	for i, row := range []struct{ delay, jitter lockstep.Time }{{5, 0}, {22, 0}, {40, 0}, {51, 0}, {90, 0}, {40, 10}, {70, 10}} {
		if testenv.Small(t) && i%3 > 0 {
			continue
		}
		c := newCluster(t, 9, nil, nil)
		way := linkSpec{delay: row.delay * lockstep.Millisecond, jitter: row.jitter * lockstep.Millisecond}
		c.links = func(*machine) (up, down linkSpec) { return way, way }
		c.players(4, player.Options{Predict: 10, Interpolate: true})
		c.run(20 * lockstep.Second)
		commands, corrections := 0, 0
		count := func(sign int) {
			for _, m := range c.machines {
				commands += sign * int(m.submitted)
				corrections += sign * m.client.Status().Corrections
			}
		}
		count(-1)
		c.run(100 * lockstep.Second)
		count(1)
		t.Logf("%d ms and up to %d: %d corrections for %d commands", row.delay, row.jitter, corrections, commands)
		if commands < 1000 || corrections*8 > commands {
			t.Errorf("%d ms and up to %d: got %d corrections for %d commands, want one of 8 at most", row.delay, row.jitter, corrections, commands)
		}
		c.finish()
	}
}

// A command that the prediction shows before its time does not vanish when the answer tells it.
func TestShownCommandStays(t *testing.T) {
	f := newFeed(t, player.Options{Predict: 1, Interpolate: true})
	prompt := func(int) lockstep.Time { return 0 }
	f.play(50, prompt)
	if _, err := f.client.Submit(&testgame.Earn{Coins: 5000}); err != nil {
		t.Fatal(err)
	}
	r := newGiver(f, 0).earn(5000)
	f.play(1, prompt)
	f.give(accepted(r))
	for f.c.Now() < r.Tick+2 {
		if p := f.client.Predicted(); lockstep.World[testgame.Bank](p).Piles[0].Coins < 5000 {
			t.Errorf("the command of tick %d does not show in tick %d", r.Tick, p.Tick())
		}
		f.play(1, prompt)
	}
}

// accepted returns the message with a receipt.
func accepted(r lockstep.Receipt) []byte {
	var w protocol.Writer
	return w.Append(nil, &protocol.Message{Kind: protocol.KindCommandAccepted, Sequence: r.Sequence, Tick: r.Tick})
}

// A command shows in the predicted state at the next tick or that after it, whatever the latency, and never disappears before it is
// confirmed.
func TestPredictionShowsOwnCommands(t *testing.T) {
	for _, predict := range []lockstep.Tick{20, 4} { // far enough ahead, and not
		testPredictionShows(t, predict)
	}
}

func testPredictionShows(t *testing.T, predict lockstep.Tick) {
	c := newCluster(t, 1, nil, nil)
	way := linkSpec{delay: 150 * lockstep.Millisecond, jitter: 30 * lockstep.Millisecond}
	c.links = func(*machine) (up, down linkSpec) { return way, way }
	c.players(2, player.Options{Predict: predict})
	m := c.machines[0]
	m.give = false
	c.run(5 * lockstep.Second)
	coins := func(s *lockstep.Simulation) int64 { return lockstep.World[testgame.Bank](s).Piles[0].Coins }
	for range 10 {
		confirmed, predicted := coins(m.client.Simulation()), coins(m.client.Predicted())
		if _, err := m.client.Submit(&testgame.Earn{Coins: 10_000}); err != nil {
			t.Fatal(err)
		}
		m.submitted++
		shows := func() bool { return coins(m.client.Predicted())-predicted >= 10_000 }
		for end := c.now + 110*lockstep.Millisecond; !shows() && c.now < end; {
			c.run(5 * lockstep.Millisecond)
		}
		if !shows() {
			t.Error("after two ticks the prediction does not have the command")
		}
		if got := coins(m.client.Simulation()) - confirmed; got >= 10_000 {
			t.Error("control: the confirmed state has the command already")
		}
		for range 160 {
			if c.run(5 * lockstep.Millisecond); !shows() {
				t.Fatal("the prediction has lost the command")
			}
		}
		if got := coins(m.client.Simulation()) - confirmed; got < 10_000 {
			t.Errorf("the confirmed state has %d coins more, want 10000", got)
		}
	}
	c.finish()
}

// A client may predict fewer ticks for a while.
func TestSetPredict(t *testing.T) {
	c := newCluster(t, 1, nil, nil)
	way := linkSpec{delay: 200 * lockstep.Millisecond}
	c.links = func(*machine) (up, down linkSpec) { return way, way }
	c.players(2, player.Options{Predict: 6})
	m := c.machines[0].client
	for _, ticks := range []lockstep.Tick{6, 2, 5, 4, 1, 6} {
		m.SetPredict(ticks)
		c.run(2 * lockstep.Second)
		if got := m.Predicted().Tick() - m.Simulation().Tick(); got != ticks {
			t.Errorf("predicts %d ticks, want %d", got, ticks)
		}
	}
	c.finish()
}

// A tick costs at most its own step and the predicted ones. A tick without new records costs one more.
func TestPredictionCost(t *testing.T) {
	const predict = 6
	steps := 0
	rules := testgame.BankRules()
	step := rules.Step
	rules.Step = func(w *testgame.Bank, config *testgame.BankConfig, turn *lockstep.Turn) {
		steps++
		step(w, config, turn)
	}
	for _, busy := range []bool{false, true} {
		f := newFeedOf(t, lockstep.MustGame(rules), player.Options{Predict: predict})
		f.play(50, func(int) lockstep.Time { return 0 })
		steps = 0
		for i := range 100 {
			if busy {
				kind, payload := testgame.Encode(t, lockstep.MustGame(testgame.BankRules()), &testgame.Earn{Coins: 1})
				f.c.Submit(1, lockstep.Sequence(i+1), kind, payload)
			}
			f.play(1, func(int) lockstep.Time { return 0 })
		}
		got := steps - 100 // the referee's
		if want := 200 + predict; !busy && got > want {
			t.Errorf("quiet: got %d steps in 100 ticks, want at most %d", got, want)
		}
		if want := 100 * (1 + predict); busy && (got > want || got < 300) {
			t.Errorf("busy: got %d steps in 100 ticks, want at most %d and more than when it is quiet", got, want)
		}
	}
}

// The game's events are reported once for each confirmed tick and never for predicted ones.
func TestPredictionTellsNoEvents(t *testing.T) {
	told := 0
	c := newCluster(t, 2, nil, nil)
	c.players(1, player.Options{Predict: 10, Observer: func(_ lockstep.Tick, e any) {
		if _, ok := e.(testgame.Earned); ok {
			told++
		}
	}})
	c.run(5 * lockstep.Second)
	c.finish()
	if m := c.machines[0]; told != len(m.accepted) || told == 0 {
		t.Errorf("got %d events of %d commands", told, len(m.accepted))
	}
}

// A command that makes the game panic in the prediction is harmless: prediction stops until the server has rejected it.
func TestPredictionSurvivesPanic(t *testing.T) {
	rules := testgame.BankRules()
	rules.Validate = func(_ *testgame.Bank, _ *testgame.BankConfig, c *lockstep.Command) error {
		if _, ok := c.Value.(*testgame.Crash); ok {
			return testgame.ErrDisk
		}
		return nil
	}
	c := newClusterOf(t, lockstep.MustGame(rules), 1, nil, nil)
	c.players(1, player.Options{Predict: 10})
	m := c.machines[0]
	m.give = false
	c.run(2 * lockstep.Second)
	if _, err := m.client.Submit(&testgame.Crash{}); err != nil {
		t.Fatal(err)
	}
	m.submitted++
	c.run(70 * lockstep.Millisecond)
	if m.client.Predicted() != nil {
		t.Error("there is a prediction, though the game has panicked in it")
	}
	c.run(lockstep.Second)
	if m.client.Predicted() == nil || m.rejected != 1 {
		t.Errorf("got no prediction, or %d commands rejected, want 1", m.rejected)
	}
	c.finish()
}

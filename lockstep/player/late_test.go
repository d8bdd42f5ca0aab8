package player_test

import (
	"math/rand/v2"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A gaze looks at what a client shows, every 10 ms and after every call, and counts what its user sees.
type gaze struct {
	f     *feed
	next  lockstep.Time
	at    int64         // what is shown, in microseconds of the match
	moved lockstep.Time // when that last grew
	shown map[lockstep.Tick]uint64

	stalls  int
	worst   lockstep.Time // without a movement
	back    int64         // most microseconds that it went back
	changes int           // ticks that were shown in two ways
	ahead   lockstep.Tick // most ticks of the prediction
}

func gazeAt(f *feed) *gaze {
	g := &gaze{f: f, next: f.now, moved: f.now, shown: map[lockstep.Tick]uint64{}}
	f.grain, f.drawn = 10*lockstep.Millisecond, g.look
	return g
}

func (g *gaze) look() {
	v, ok := g.f.client.Interpolation()
	if !ok {
		return
	}
	g.ahead = max(g.ahead, v.Current.Tick()-g.f.client.Tick())
	corrected := 0
	for _, s := range []*lockstep.Simulation{v.Previous, v.Current} {
		if before, again := g.shown[s.Tick()]; again && before != s.Hash() {
			corrected = 1
		}
		g.shown[s.Tick()] = s.Hash()
	}
	g.changes += corrected
	for ; g.f.now >= g.next; g.next += g.f.grain {
		at := player.Lerp(int64(v.Previous.Tick())*int64(feedPeriod), int64(v.Current.Tick())*int64(feedPeriod), v.Fraction)
		g.back = max(g.back, g.at-at)
		before := g.f.now - g.moved
		if at > g.at {
			g.at, g.moved = at, g.f.now
		} else if before > visible && before <= visible+g.f.grain {
			g.stalls++
		}
		g.worst = max(g.worst, before)
	}
}

const visible = 100 * lockstep.Millisecond

// lossy returns the delays of frames over a stream that loses a part of the packets, and sends them again as TCP does.
func lossy(loss float64) func(int) lockstep.Time {
	random := rand.New(rand.NewPCG(3, 3))
	return func(int) lockstep.Time {
		d := 40*lockstep.Millisecond + lockstep.Time(random.Int64N(int64(10*lockstep.Millisecond)))
		for wait := 200 * lockstep.Millisecond; random.Float64() < loss; wait *= 2 {
			d += wait
		}
		return d
	}
}

// In ten minutes over a path that loses 3 % of the packets, what is shown never stands still for 100 ms if the client goes on over
// late ticks. It changes as often as a late tick had a command of another player, or with Predict, any tick had; only the first are
// corrections. Control: without, it stands still often.
func TestLateTicks(t *testing.T) {
	const ticks = 10 * 60 * 20
	for i, row := range []struct {
		name        string
		options     player.Options
		stalls      bool
		least, most int           // changes of what was shown
		corrections int           // those of late ticks
		ahead       lockstep.Tick // at most
	}{
		{"control", player.Options{}, true, 0, 0, 0, 0},
		{"late ticks", player.Options{PredictLate: 10}, false, 19, 19, 19, 10},
		{"own commands and late ticks", player.Options{Predict: 6, PredictLate: 10}, false, 1000, 1400, 19, 16},
		{"control with own commands", player.Options{Predict: 6}, true, 1000, 1400, 0, 6},
	} {
		if testenv.Small(t) && i >= 2 { // TestLateTicksOfPlayers has own commands, too
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			row.options.Interpolate = true
			f := newFeed(t, row.options)
			g, delay, random := gazeAt(f), lossy(0.03), rand.New(rand.NewPCG(4, 4))
			other := newGiver(f, 1)
			f.play(ticks, func(i int) lockstep.Time {
				if random.IntN(10) == 0 {
					other.earn(1)
				}
				return delay(i)
			})
			f.rest(6 * feedPeriod)
			s := f.client.Status()
			t.Logf("%d late frames, %d stalls, the longest %d ms, %d changes, %d of them corrections, and %d rollbacks in %d s", s.LateFrames, g.stalls, g.worst/lockstep.Millisecond,
				g.changes, s.Corrections, s.Rollbacks, s.Watched/lockstep.Second)
			if s.Corrections != row.corrections || s.Stalls != g.stalls && !(row.stalls && s.Stalls == g.stalls+1) { // it looks every 10 ms
				t.Errorf("the status has %d stalls and %d corrections, and there were %d and %d", s.Stalls, s.Corrections, g.stalls, row.corrections)
			}
			if got := g.stalls; row.stalls != (got > 10) || !row.stalls && got > 0 {
				t.Errorf("got %d stalls", got)
			}
			if got := g.changes; got < row.least || got > row.most || s.Rollbacks < got {
				t.Errorf("got %d changes and %d rollbacks, want %d to %d", got, s.Rollbacks, row.least, row.most)
			}
			if g.ahead > row.ahead || g.back > 0 {
				t.Errorf("got %d ticks ahead, want at most %d; it went back %d µs", g.ahead, row.ahead, g.back)
			}
			if s.LateFrames < 100 || s.LateFrames > ticks*3/100 {
				t.Errorf("got %d late frames, want some of the 3 %% that are lost: most of them come while the picture waits for jitter", s.LateFrames)
			}
			if watched := s.Watched / lockstep.Second; watched < 598 || watched > 601 {
				t.Errorf("watched %d s, want 600", watched)
			}
			if got, want := f.client.Simulation().Hash(), f.c.Referee().Simulation().Hash(); got != want {
				t.Errorf("got state %x in the end, want %x", got, want)
			}
		})
	}
}

// A giver gives the commands of a seat to a feed's match.
type giver struct {
	f    *feed
	seat lockstep.Player
	seq  lockstep.Sequence
}

func newGiver(f *feed, seat lockstep.Player) *giver { return &giver{f: f, seat: seat} }

func (g *giver) earn(coins uint16) lockstep.Receipt {
	g.seq++
	kind, payload := testgame.Encode(g.f.tb, lockstep.MustGame(testgame.BankRules()), &testgame.Earn{Coins: coins})
	r := g.f.c.Submit(g.seat, g.seq, kind, payload)
	if r.Reason != lockstep.Accepted {
		g.f.tb.Fatal(r)
	}
	return r
}

// While nothing comes, the client goes on for PredictLate ticks and no further, and then it waits. One call redoes at most Predict +
// PredictLate ticks, besides those that have come.
func TestLateTicksBounded(t *testing.T) {
	for _, predict := range []lockstep.Tick{0, 6} {
		const late = 10
		steps := 0
		rules := testgame.BankRules()
		step := rules.Step
		rules.Step = func(w *testgame.Bank, config *testgame.BankConfig, turn *lockstep.Turn) {
			steps++
			step(w, config, turn)
		}
		f := newFeedOf(t, lockstep.MustGame(rules), player.Options{Predict: predict, PredictLate: late, Interpolate: true})
		f.play(100, func(int) lockstep.Time { return 0 })
		lead := lockstep.Tick(0)
		if p := f.client.Predicted(); p != nil {
			lead = p.Tick() - f.client.Tick()
		}
		g, other := gazeAt(f), newGiver(f, 1)
		from := f.now
		most, before := 0, f.client.Tick()
		drawn := f.drawn
		f.drawn = func() {
			most = max(most, steps-int(f.client.Tick()-before))
			steps, before = 0, f.client.Tick()
			drawn()
		}
		f.play(80, func(i int) lockstep.Time {
			other.earn(1)
			steps = 0 // the referee's
			return max(0, 4*lockstep.Second-lockstep.Time(i)*feedPeriod)
		})
		if got := g.ahead; got != lead+late {
			t.Errorf("predict %d: got %d ticks ahead, want %d", predict, got, lead+late)
		}
		if limit := int(predict) + late; most > limit || most < late-feedDelay {
			t.Errorf("predict %d: got %d steps in a call besides those of the ticks that came, want at most %d", predict, most, limit)
		}
		if s := f.client.Status(); s.Stalls != 1 || g.stalls != 1 {
			t.Errorf("predict %d: got %d stalls, want 1, and saw %d", predict, s.Stalls, g.stalls)
		}
		if got := f.now - from; g.worst < got-(late+4)*feedPeriod-lockstep.Second {
			t.Errorf("predict %d: stood for %d of %d µs", predict, g.worst, got)
		}
		f.drawn = nil
	}
}

// A match that is paused or held does not go on in the prediction, and its picture that stands still is no stall.
func TestLateTicksWhilePaused(t *testing.T) {
	for _, late := range []lockstep.Tick{0, 10} {
		f := newFeed(t, player.Options{PredictLate: late, Interpolate: true})
		random := rand.New(rand.NewPCG(8, 8))
		delay := func(int) lockstep.Time { return lockstep.Time(random.Int64N(int64(30 * lockstep.Millisecond))) }
		f.play(200, delay)
		g := gazeAt(f)
		rest := func() {
			before, _ := f.client.Interpolation()
			most := max(before.Current.Tick(), f.c.Now()+1)
			f.rest(3 * lockstep.Second)
			if v, _ := f.client.Interpolation(); v.Current.Tick() > most {
				t.Errorf("late %d: shows tick %d of a match that stands at %d", late, v.Current.Tick(), f.c.Now())
			}
		}
		for range 3 {
			testgame.Does(t)(f.c.Pause(1))
			f.play(1, delay)
			rest()
			testgame.Does(t)(f.c.Resume(1))
			f.play(40, delay)
			f.give(heldMessage(protocol.HeldForSlow))
			rest()
			f.give(heldMessage(""))
			f.play(40, delay)
		}
		s := f.client.Status()
		if s.Stalls != 0 || g.back > 0 {
			t.Errorf("late %d: got %d stalls, and it went back %d µs", late, s.Stalls, g.back)
		}
		if got := s.Watched / lockstep.Second; got < 21 || got > 24 {
			t.Errorf("late %d: watched %d s, want those in which ticks ran", late, got)
		}
	}
}

// rest lets time pass in which no tick is sealed.
func (f *feed) rest(d lockstep.Time) {
	for end := f.now + d; f.now < end; {
		f.now = min(end, max(f.client.Ready().Next, f.now+1))
		f.settle()
	}
	f.due = f.now + feedPeriod
}

func heldMessage(reason string) []byte {
	var w protocol.Writer
	return w.Append(nil, &protocol.Message{Kind: protocol.KindHeld, Text: reason})
}

// Without Predict, an own command shows in the tick of its receipt, also if that tick is late, and neither before nor never again.
// Then it is no correction. Control: a command whose receipt is late, too, is one.
func TestLateTicksShowOwnCommands(t *testing.T) {
	for _, known := range []bool{true, false} {
		f := newFeed(t, player.Options{PredictLate: 10, Interpolate: true})
		f.play(50, func(int) lockstep.Time { return 0 })
		g, own := gazeAt(f), newGiver(f, 0)
		look := f.drawn
		first, last := lockstep.Tick(0), lockstep.Tick(0)
		f.drawn = func() {
			look()
			v, _ := f.client.Interpolation()
			if has := lockstep.World[testgame.Bank](v.Current).Piles[0].Coins > 1000; has && first == 0 {
				first = v.Current.Tick()
			} else if !has {
				last = v.Current.Tick()
			}
		}
		seq, err := f.client.Submit(&testgame.Earn{Coins: 5000})
		if err != nil {
			t.Fatal(err)
		}
		r := own.earn(5000)
		if r.Sequence != seq {
			t.Fatalf("got sequence %d, want %d", r.Sequence, seq)
		}
		var w protocol.Writer
		receipt := w.Append(nil, &protocol.Message{Kind: protocol.KindCommandAccepted, Sequence: seq, Tick: r.Tick})
		if known {
			f.give(receipt)
		}
		f.play(40, func(i int) lockstep.Time { return max(0, 9-lockstep.Time(i)) * feedPeriod })
		f.give(receipt)
		f.play(40, func(i int) lockstep.Time { return 0 })
		corrections := f.client.Status().Corrections
		if known && (first != r.Tick || last != r.Tick-1 || corrections > 0) {
			t.Errorf("shows first in tick %d and not in tick %d, want %d and the one before; %d corrections", first, last, r.Tick, corrections)
		}
		if !known && (corrections != 1 || g.changes != 1) {
			t.Errorf("control: got %d corrections, want 1, and saw %d", corrections, g.changes)
		}
	}
}

// Computing late ticks again is no correction if the commands that came have changed nothing.
func TestLateTicksThatChangeNothing(t *testing.T) {
	rules := testgame.BankRules()
	rules.Step = func(w *testgame.Bank, _ *testgame.BankConfig, turn *lockstep.Turn) { w.Tick++ }
	f := newFeedOf(t, lockstep.MustGame(rules), player.Options{PredictLate: 10, Predict: 4, Interpolate: true})
	delay, other := lossy(0.03), newGiver(f, 1)
	f.play(400, func(i int) lockstep.Time {
		other.earn(1)
		return delay(i)
	})
	if s := f.client.Status(); s.Corrections != 0 {
		t.Errorf("got %d corrections, want none", s.Corrections)
	}
}

// An owner whose machine is slow lets the client go on over fewer late ticks.
func TestSetPredictOfLateTicks(t *testing.T) {
	for _, row := range []struct{ predict, most, want lockstep.Tick }{{0, 10, 10}, {0, 4, 4}, {0, 0, 0}, {3, 20, 13}, {3, 5, 5}, {3, 2, 2}, {3, 0, 0}} {
		f := newFeed(t, player.Options{Predict: row.predict, PredictLate: 10})
		f.client.SetPredict(row.most)
		f.play(50, func(int) lockstep.Time { return 0 })
		g := gazeAt(f)
		f.rest(2 * lockstep.Second)
		if g.ahead != row.want {
			t.Errorf("predict %d, at most %d: got %d ticks ahead, want %d", row.predict, row.most, g.ahead, row.want)
		}
	}
}

// A client that is asked for fewer ticks shows no earlier one, also when it computes them again.
func TestFewerTicksDoNotGoBack(t *testing.T) {
	f := newFeed(t, player.Options{Predict: 6, Interpolate: true})
	prompt := func(int) lockstep.Time { return 0 }
	f.play(50, prompt)
	other := newGiver(f, 1)
	for range feedDelay {
		other.earn(1)
		f.play(1, prompt)
	}
	before := f.client.Predicted().Tick() - f.client.Tick()
	g := gazeAt(f)
	f.client.SetPredict(1)
	for range 20 {
		other.earn(1)
		f.play(1, prompt)
	}
	after := f.client.Predicted().Tick() - f.client.Tick()
	if before < 3 || after != 1 || g.back > 0 {
		t.Errorf("it predicted %d ticks, and %d after; the picture went back %d µs", before, after, g.back)
	}
}

// A client that is called seldom, as in a page in the background, hangs up on a silent server as soon as another one.
func TestSilenceOfClientCalledSeldom(t *testing.T) {
	f := newFeed(t, player.Options{})
	f.play(50, func(int) lockstep.Time { return 0 })
	for range 4 {
		f.now += 2 * lockstep.Second
		f.client.Advance(f.now)
	}
	if got := f.client.Stage(); got == player.StageLive {
		t.Errorf("after 8 s of silence: got %v", got)
	}
}

// Players and a spectator who go on over late ticks, on bad connections that are also cut, have the states of the log and an answer to each command,
// and fewer stalls. Control: those who do not.
func TestLateTicksOfPlayers(t *testing.T) {
	run := func(late lockstep.Tick, predict lockstep.Tick) (stalls, corrections int) {
		c := newCluster(t, 9, nil, nil)
		way := linkSpec{delay: 30 * lockstep.Millisecond, jitter: 10 * lockstep.Millisecond, lossPercent: 3}
		c.links = func(*machine) (up, down linkSpec) { return way, way }
		c.players(4, player.Options{PredictLate: late, Predict: predict, Interpolate: true})
		watcher := c.join("watch", player.Options{PredictLate: late, Predict: predict, Interpolate: true})
		for range 10 {
			c.run(20 * lockstep.Second)
			if p := watcher.client.Predicted(); p != nil && p.Tick()-watcher.client.Tick() > late {
				t.Errorf("the spectator predicts %d ticks", p.Tick()-watcher.client.Tick())
			}
			c.any().cut(true, true)
		}
		for _, m := range c.machines {
			s := m.client.Status()
			stalls, corrections = stalls+s.Stalls, corrections+s.Corrections
		}
		c.finish()
		return stalls, corrections
	}
	both := []lockstep.Tick{6, 0}
	if testenv.Small(t) {
		both = both[:1]
	}
	for _, predict := range both {
		before, _ := run(0, predict)
		stalls, corrections := run(10, predict)
		t.Logf("predict %d: %d stalls of four players and a spectator in 200 s, and %d before; %d corrections", predict, stalls, before, corrections)
		if stalls > before/3 || before < 12 || corrections == 0 {
			t.Errorf("predict %d: got %d stalls and %d corrections, and %d stalls before", predict, stalls, corrections, before)
		}
	}
}

// Rules that fail in a prediction over late ticks stop it until the next tick has come, and no longer.
func TestLateTicksSurvivePanic(t *testing.T) {
	for _, predict := range []lockstep.Tick{0, 4} {
		steps := 0
		rules := testgame.BankRules()
		step := rules.Step
		rules.Step = func(w *testgame.Bank, config *testgame.BankConfig, turn *lockstep.Turn) {
			if steps++; turn.Tick > 100 && turn.Tick < 140 && len(turn.Commands) == 0 {
				panic("nobody commands")
			}
			step(w, config, turn)
		}
		f := newFeedOf(t, lockstep.MustGame(rules), player.Options{Predict: predict, PredictLate: 10, Interpolate: true})
		other := newGiver(f, 1)
		play := func(ticks int, late lockstep.Time) {
			f.play(ticks, func(i int) lockstep.Time { other.earn(1); return max(0, late-lockstep.Time(i)*feedPeriod) })
		}
		play(118, 0)
		g := gazeAt(f)
		steps = 0
		play(30, lockstep.Second)
		if steps > 400 {
			t.Errorf("predict %d: got %d steps in 30 ticks", predict, steps)
		}
		g.ahead = 0
		f.rest(lockstep.Second)
		if g.ahead < 10 || f.client.Tick() != f.c.Now() {
			t.Errorf("predict %d: goes on over %d late ticks after the panics, at tick %d of %d", predict, g.ahead, f.client.Tick(), f.c.Now())
		}
	}
}

// A prediction that is asked to have no end has one.
func TestLateTicksWithoutEnd(t *testing.T) {
	f := newFeed(t, player.Options{Predict: 1<<32 - 1, PredictLate: 1<<32 - 1})
	f.play(50, func(int) lockstep.Time { return 0 })
	g := gazeAt(f)
	f.rest(4 * lockstep.Second) // it hangs up after five
	if g.ahead < 60 || g.ahead > 250+20 {
		t.Errorf("got %d ticks ahead after four seconds", g.ahead)
	}
}

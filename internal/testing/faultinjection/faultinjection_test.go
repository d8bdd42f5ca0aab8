package faultinjection

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/examples/platforms"
	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A game with bots and IDs.
func rts() *Subject {
	config := skirmish.Defaults(4, 120)
	return &Subject{
		Game: lockstep.MustGame(skirmish.Rules()), Config: &config, Players: 4, Faulty: Faulty(skirmish.Rules()),
		Bot: func(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any {
			bot := skirmish.NewBot(p, seed)
			return func(s *lockstep.Simulation) (all []any) {
				for _, order := range bot.Think(lockstep.World[skirmish.World](s)) {
					all = append(all, order.Value)
				}
				return all
			}
		},
	}
}

// A small game, whose players give random commands.
func coins() *Subject {
	g, config := lockstep.MustGame(minimal.Rules()), &minimal.Config{Size: 32, Coins: 200}
	return &Subject{Game: g, Config: config, Players: 2, Faulty: Faulty(minimal.Rules()), Bot: locksteptest.RandomBot(g, 6, nil)}
}

// A game without a generator, bools in a list, and a list that grows.
func bank() *Subject {
	g := lockstep.MustGame(testgame.BankRules())
	return &Subject{
		Game: g, Config: &testgame.BankConfig{Start: 100}, Players: 3, Faulty: Faulty(testgame.BankRules()),
		Bot: func(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any {
			dice := rand.New(rand.NewPCG(seed, uint64(p)))
			return func(*lockstep.Simulation) []any {
				switch dice.IntN(12) {
				case 0:
					return []any{&testgame.Earn{Coins: uint16(dice.IntN(100))}}
				case 1:
					return []any{&testgame.Give{To: lockstep.Player(dice.IntN(3)), Coins: []uint16{uint16(dice.IntN(20)), 1}}}
				}
				return nil
			}
		},
	}
}

// A game whose units are in no list with IDs, and which reads its configuration in each step.
func boxes() *Subject {
	config := platforms.Usual(4)
	return &Subject{Game: lockstep.MustGame(platforms.Rules()), Config: &config, Players: 4, Faulty: Faulty(platforms.Rules()), Bot: func(p lockstep.Player, seed uint64) func(*lockstep.Simulation) []any {
		return platforms.NewBot(p, seed)
	}}
}

// A game whose rules end the match.
func race() *Subject {
	g := lockstep.MustGame(testgame.RaceRules())
	return &Subject{
		Game: g, Config: &testgame.RaceConfig{Goal: 1500}, Players: 2, Faulty: Faulty(testgame.RaceRules()),
		Bot: func(p lockstep.Player, seed uint64) lockstep.Bot {
			dice := rand.New(rand.NewPCG(seed, uint64(p)))
			return func(*lockstep.Simulation) []any { return []any{&testgame.Run{Steps: int16(dice.IntN(5))}} }
		},
	}
}

// A match of few ticks, as of a game whose ticks are seconds, has checks that are nearer together.
func TestShortMatch(t *testing.T) {
	s := race()
	s.Config = &testgame.RaceConfig{Goal: 400}
	r := fewFaults(t, s)
	if !testenv.Small(t) {
		r = run(t, Options{Subject: s, Seed: 1})
	}
	for _, row := range r.Rows {
		if !row.Right {
			t.Errorf("%s: %s found %s, want %s", row.Fault, row.Tool, row.Found, row.Want)
		}
	}
	if len(r.Rows) < 8 || s.ticks > 100 || s.checks() >= checkEvery {
		t.Errorf("got %d rows in %d ticks with a check each %d, want at least 8", len(r.Rows), s.ticks, s.checks())
	}
}

// A match that its rules end is only as long as that; a very short one is an error. The small form plants a few of the faults.
func TestEnds(t *testing.T) {
	s := race()
	r, want := &Result{}, 30
	if testenv.Small(t) {
		r, want = fewFaults(t, s), 8
	} else {
		r = run(t, Options{Subject: s, Seed: 1})
	}
	for _, row := range r.Rows {
		if t.Logf("%+v", row); !row.Right {
			t.Errorf("%s: %s found %s, want %s", row.Fault, row.Tool, row.Found, row.Want)
		}
	}
	if len(r.Rows) < want {
		t.Errorf("got %d rows, want %d", len(r.Rows), want)
	}
	s.Config = &testgame.RaceConfig{Goal: 20}
	if _, err := Run(Options{Subject: s, Seed: 1}); !errors.As(err, new(*endedError)) {
		t.Errorf("a short match: got %v", err)
	}
}

// fewFaults plants faults in the copy of a player and in the referee's.
func fewFaults(t *testing.T, s *Subject) *Result {
	t.Helper()
	if err := s.measure(1); err != nil {
		t.Fatal(err)
	}
	if s.ticks == 0 || s.ticks >= longest {
		t.Errorf("got a match of %d ticks, want the rules to end it", s.ticks)
	}
	d := &drill{subject: s, seed: 1, dice: rand.New(rand.NewPCG(1, 5)), tools: realTools(), result: &Result{}}
	for _, err := range []error{d.noFault(), d.copyFault("flipped bit", flipped(flippable)), d.copyFault("changed rule", changedRule), d.refereeFault()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return d.result
}

// All tools find all faults that have a place in a game, in more than one match.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		name      string
		subject   *Subject
		first     uint64 // seed
		rows      int
		unplanted string // faults without a place
	}{
		{"skirmish", rts(), 1, 130, "another configuration, "},
		{"platforms", boxes(), 1, 90, "flipped bool, draw too many, many draws too many, doubled command, swapped commands, wrong order, number of a command cut, memory that two elements share, a float, commands in the order of a map, a draw more in ticks with commands, "},
		{"minimal", coins(), 0, 100, "flipped bool, doubled command, a cache of every fourth element, memory that two elements share, another configuration, "},
		{"bank", bank(), 0, 60, "draw too many, many draws too many, swapped commands, wrong order, command a tick late, command two ticks late, command five ticks late, command twelve ticks late, command a tick early, commands of a tick late, a cache of every fourth element, a value that is not reset, scratch memory that is not cleared, memory that two elements share, commands in the order of a map, a draw more in ticks with commands, another configuration, "},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "bank" { // ExampleRun has minimal
				testenv.Night(t)
			}
			testRun(t, c.subject, c.first, c.rows, c.unplanted)
		})
	}
}

func testRun(t *testing.T, s *Subject, first uint64, rows int, unplanted string) {
	for seed := first; seed <= first; seed++ { // .ci/run plays more of them
		r := run(t, Options{Subject: s, Seed: seed})
		for _, row := range r.Rows {
			if t.Logf("%+v", row); !row.Right {
				t.Errorf("seed %d: %s: %s found %s, want %s", seed, row.Fault, row.Tool, row.Found, row.Want)
			}
		}
		if r.Wrong > 0 || len(r.Rows) < rows {
			t.Errorf("seed %d: %d wrong of %d", seed, r.Wrong, len(r.Rows))
		}
		missing := ""
		for _, u := range r.Unplanted {
			missing += u.Fault + ", "
			t.Log(u)
		}
		if missing != unplanted {
			t.Errorf("seed %d: not planted: got %q, want %q", seed, missing, unplanted)
		}
	}
}

func run(t *testing.T, o Options) *Result {
	t.Helper()
	r, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The seed determines the run.
func TestSeed(t *testing.T) {
	testenv.Long(t)
	s := bank()
	a, b, c := run(t, Options{Subject: s, Seed: 2}), run(t, Options{Subject: s, Seed: 2}), run(t, Options{Subject: s, Seed: 3})
	if fmt.Sprint(a.Rows) != fmt.Sprint(b.Rows) || fmt.Sprint(a.Rows) == fmt.Sprint(c.Rows) {
		t.Error("the seed does not determine the run")
	}
}

// A list without IDs that shrinks hides since when an element is wrong: its index was another
// one before.
func TestShrunkList(t *testing.T) {
	s := coins()
	s.ticks = longest
	d := &drill{subject: s, seed: 1, dice: rand.New(rand.NewPCG(1, 5)), tools: realTools(), result: &Result{}}
	if err := d.noFault(); err != nil {
		t.Fatal(err)
	}
	last := func(m *match, dice *rand.Rand) (*variant, error) {
		at := m.subject.anyTick(dice)
		coins := func(t lockstep.Tick) string {
			v, err := s.Game.StateSchema().Lookup(m.states[t], "Coins")
			return fmt.Sprint(v, err)
		}
		if coins(at) == coins(s.nextCheck(at)) {
			return nil, nil
		}
		var n int
		if _, err := fmt.Sscan(coins(at), &n); err != nil {
			return nil, err
		}
		path := fmt.Sprintf("Coins[%d].Y", n-1)
		return m.damaged(at, path, path, func(b []byte) []byte {
			if v, err := s.Game.StateSchema().Lookup(b, path); err == nil {
				v.Flip()
			}
			return b
		}), nil
	}
	for range 4 {
		if err := d.copyFault("last coin", last); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range d.result.Rows {
		if !row.Right {
			t.Errorf("%s: %s: %s found %s, want %s", row.Fault, row.Planted, row.Tool, row.Found, row.Want)
		}
	}
}

// No fault is planted in rules without a fixed result: the tools could say nothing of it.
func TestUnfixedRules(t *testing.T) {
	r := testgame.BankRules()
	r.Step = func(w *testgame.Bank, c *testgame.BankConfig, t *lockstep.Turn) {
		testgame.StepBank(w, c, t)
		for i := range map[int]bool{0: true, 1: true, 2: true} { //samestep:allow maprange the mistake
			w.Die = w.Die*31 + uint64(i)
		}
	}
	s := bank()
	s.Game, s.Faulty = lockstep.MustGame(r), Faulty(r)
	if _, err := Run(Options{Subject: s, Seed: 1}); err == nil || !strings.Contains(err.Error(), "the rules have no fixed result") || !strings.Contains(err.Error(), " in Die") {
		t.Errorf("got %v", err)
	}
}

// A fault that changes nothing is not planted.
func TestNothingPlanted(t *testing.T) {
	s := coins()
	s.ticks = longest
	m, err := s.play(1, s.truthful(0))
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(1, 1))
	if v, err := plant(m, dice, func(*match, *rand.Rand) (*variant, error) {
		return &variant{game: s.Game, tick: s.anyTick(dice)}, nil
	}); !errors.Is(err, errNoPlace) {
		t.Errorf("planted %+v", v)
	}
	if tick, err := firstDiffering(m.states, m.copied, 1); err == nil {
		t.Errorf("the states of a true copy differ from tick %d on", tick)
	}
	failed := errors.New("no")
	if _, err := plant(m, dice, func(*match, *rand.Rand) (*variant, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}

func ExampleRun() {
	result, err := Run(Options{Subject: coins(), Seed: 1})
	if err != nil {
		panic(err)
	}
	for _, row := range result.Rows {
		if row.Fault == "draw too many" {
			fmt.Printf("%s: %s\n", row.Tool, row.Found)
		}
	}
	fmt.Println(result.Wrong, "wrong")
	// Output:
	// desync report: desync, ticks 61 to 80, player 1, Rand
	// histories: desync, tick 64, Rand.Hi and 1 more
	// bisect: desync, tick 64, the rules, Rand.Hi and 1 more
	// explain: other draws, ticks 61 to 80, player 1, Rand.Hi and 1 more
	// verify: players differed, tick 80, player 1
	// 0 wrong
}

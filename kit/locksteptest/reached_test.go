package locksteptest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// runners are bots that only run.
func runners(lockstep.Player, *lockstep.Simulation) []any { return []any{&run{Steps: 1}} }

// raceTo returns a race that ends after some ticks, by its rules.
func raceTo(end lockstep.Tick) *lockstep.Game {
	rules := raceRules(false)
	rules.Result = lockstep.Result[giveUp]()
	step := rules.Step
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		if step(w, c, turn); turn.Tick == end {
			turn.End(&giveUp{})
		}
	}
	return lockstep.MustGame(rules)
}

// Without a length in the options, a match of bots lasts as long as a match of bots alone, and one of random commands 200 ticks.
func TestLengthIsMeasured(t *testing.T) {
	only := map[string]int{"give up": 0}
	for _, row := range []struct {
		end, length lockstep.Tick
		o           locksteptest.Options
		golden      int
	}{
		{350, 350, locksteptest.Options{Play: runners, Weights: only}, 350},
		{5000, 1000, locksteptest.Options{Play: runners, Weights: only}, 1000},
		{30, 30, locksteptest.Options{Play: runners, Weights: only}, 30}, // a game of short matches is not one that ends early
		{5000, 200, locksteptest.Options{Weights: only}, 200},
		{5000, 1500, locksteptest.Options{Play: runners, Weights: only, Ticks: 1500}, 1500},
	} {
		g := raceTo(row.end)
		if n, err := locksteptest.Length(g, row.o); n != row.length || err != nil {
			t.Errorf("end %d: got %d ticks, %v, want %d", row.end, n, err, row.length)
		}
		if _, err := locksteptest.Run(g, row.o); err != nil {
			t.Errorf("end %d: %v", row.end, err)
		}
		r, err := locksteptest.AddGolden(g, locksteptest.GoldenOptions{Dir: t.TempDir(), Play: row.o.Play, Weights: row.o.Weights, Ticks: row.o.Ticks})
		if err != nil || r.Reached.Ticks != row.golden {
			t.Errorf("end %d: golden: got %+v, %v", row.end, r.Reached, err)
		}
	}
	if _, err := locksteptest.Length(raceTo(1), locksteptest.Options{Weights: map[string]int{"fly": 1}}); err == nil {
		t.Error("got no error for an unknown kind")
	}
}

// A search of a game with long matches plays some of them in full length.
func TestSearchPlaysWholeMatches(t *testing.T) {
	bots := func(uint64) func(lockstep.Player, *lockstep.Simulation) []any { return runners }
	o := locksteptest.Options{Weights: map[string]int{"give up": 0}, Skip: locksteptest.PhaseNames(), Players: 1}
	_, r, err := locksteptest.Search(t.Context(), raceTo(3000), o, locksteptest.SearchOptions{Matches: 64, Bots: bots})
	if err != nil || r.Longest != 3000 || r.Matches != 64 || r.Ticks > 64*1000 {
		t.Errorf("got %v, %v, want a match of 3000 ticks", r, err)
	}
}

// In a search of a game in which a match of two ends when a player leaves, some matches of bots last.
func TestSearchKeepsPlayers(t *testing.T) {
	rules := raceRules(false)
	rules.Result = lockstep.Result[giveUp]()
	step := rules.Step
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		step(w, c, turn)
		for _, c := range turn.Commands {
			if _, left := c.Value.(*lockstep.Left); left || turn.Tick == 900 {
				turn.End(&giveUp{})
				return
			}
		}
	}
	bots := func(uint64) func(lockstep.Player, *lockstep.Simulation) []any { return runners }
	o := locksteptest.Options{Weights: map[string]int{"give up": 0}, Skip: locksteptest.PhaseNames(), Players: 2}
	_, r, err := locksteptest.Search(t.Context(), lockstep.MustGame(rules), o, locksteptest.SearchOptions{Matches: 8, Bots: bots})
	o.Changes = 2 // the default, in each match
	_, less, errLess := locksteptest.Search(t.Context(), lockstep.MustGame(rules), o, locksteptest.SearchOptions{Matches: 8, Bots: bots})
	if err != nil || errLess != nil || r.Longest < 400 || r.Ticks <= less.Ticks {
		t.Errorf("got %v, %v, want a match of at least 400 ticks, and more ticks than %v, %v", r, err, less, errLess)
	}
}

// Each number of the floor is asked for, and can be given up.
func TestFloor(t *testing.T) {
	g := lockstep.MustGame(raceRules(false))
	o := locksteptest.Options{Weights: map[string]int{"give up": 0}, Ticks: 60}
	for want, floor := range map[string]locksteptest.Floor{
		"got a match of 60 ticks, want 61": {Ticks: 61}, "2 of 3 fields of the state changed, want 67 %: not Over": {Fields: 67},
	} {
		o.Floor = floor
		if _, err := locksteptest.Run(g, o); !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "let more players play, play longer (Ticks: 300) if the rules do not end the match before, ask for less (Floor)") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	o.Floor = locksteptest.Floor{Kinds: 100}
	if _, err := locksteptest.Run(g, o); err != nil {
		t.Errorf("the excluded kind counts: %v", err)
	}
	o.Play = runners
	o.Weights = map[string]int{"give up": 1, "run": 0}
	o.Rate, o.Seed = 1, 3
	rules := raceRules(false)
	rules.Validate = func(_ *race, _ *struct{}, c *lockstep.Command) error {
		if c.Kind == 2 {
			return errors.New("never")
		}
		return nil
	}
	refusing := lockstep.MustGame(rules)
	o.Floor = locksteptest.Floor{Kinds: 1}
	if _, err := locksteptest.Run(refusing, o); !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), "commands of 0 of 1 kind were accepted, want 1 %: not give up") {
		t.Errorf("got %v", err)
	}
	o.Weights, o.Floor = nil, locksteptest.Floor{}
	if _, err := locksteptest.Run(refusing, o); err != nil {
		t.Errorf("a match alone: %v", err)
	}
	if err := locksteptest.Thin(refusing, o, nil); !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), "commands of 1 of 2 kinds were accepted, want 60 %: not give up") {
		t.Errorf("together: got %v", err)
	}
	o.Floor = locksteptest.Floor{Kinds: -1, Fields: -1, Ticks: -1}
	if err := locksteptest.Thin(refusing, o, nil); err != nil {
		t.Errorf("nothing is asked for: %v", err)
	}
	idle := locksteptest.Options{Weights: map[string]int{"give up": 0, "run": 0}, Play: func(lockstep.Player, *lockstep.Simulation) []any { return nil }, Ticks: 60}
	if _, err := locksteptest.Run(g, idle); !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), "no command was accepted") {
		t.Errorf("bots that do nothing: got %v", err)
	}
}

// The cure fits the cause: the kind that ends the match, the one that the rules refuse, or more ticks.
func TestThinCure(t *testing.T) {
	slow := raceRules(false)
	slow.Validate = func(w *race, _ *struct{}, c *lockstep.Command) error {
		if w.Tick < 190 && c.Kind == 1 {
			return errors.New("not before tick 190")
		}
		return nil
	}
	slow.Step = func(w *race, _ *struct{}, turn *lockstep.Turn) {
		w.Tick++
		for i := range turn.Commands {
			if _, ok := turn.Commands[i].Value.(*run); ok {
				w.At[turn.Commands[i].Player]++
			}
		}
	}
	_, err := locksteptest.Run(lockstep.MustGame(slow), locksteptest.Options{Weights: map[string]int{"run": 30}})
	want := `give commands "run" that the rules accept (Play), play until they do (Ticks: 1000), or exclude the kind (Weights: map[string]int{"run": 0})`
	if !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	slow.Validate = nil
	slow.Step = func(w *race, _ *struct{}, turn *lockstep.Turn) { w.Tick++ }
	_, err = locksteptest.Run(lockstep.MustGame(slow), locksteptest.Options{})
	if want := "give commands that change something (Play), or play until they do (Ticks: 1000)"; !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func ExampleReached() {
	bots := func(uint64) func(lockstep.Player, *lockstep.Simulation) []any { return runners }
	o := locksteptest.Options{Players: 2, Weights: map[string]int{"give up": 0}}
	found, reached, err := locksteptest.Search(context.Background(), raceTo(40), o, locksteptest.SearchOptions{Matches: 16, Bots: bots})
	fmt.Println(found, err)
	fmt.Println(reached.Matches, reached.Longest, reached.Fields, reached.Still)
	var runs locksteptest.Accepted = reached.Accepted[0]
	fmt.Println(runs.Kind, runs.N > 100)
	// Output:
	// <nil> <nil>
	// 16 40 3 [Over]
	// run true
}

func ExampleFloor() {
	o := locksteptest.Options{Ticks: 60, Weights: map[string]int{"give up": 0}, Floor: locksteptest.Floor{Fields: 100}}
	_, err := locksteptest.Run(raceTo(90), o)
	text, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Println(text)
	// Output:
	// locksteptest: the match proves too little: 2 of 3 fields of the state changed, want 100 %: not Over
}

func ExampleLength() {
	fmt.Println(locksteptest.Length(raceTo(90), locksteptest.Options{Play: runners}))
	// Output:
	// 90 <nil>
}

func ExampleGoldenResult() {
	_, err := locksteptest.CheckGolden(raceTo(90), locksteptest.GoldenOptions{Dir: "none"})
	fmt.Println(errors.Is(err, locksteptest.ErrNoGolden), slices.Contains([]error{err}, nil))
	// Output:
	// true false
}

// A match that fails counts up to where it failed.
func TestSearchCountsFailure(t *testing.T) {
	rules := raceRules(false)
	step := rules.Step
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		if step(w, c, turn); turn.Tick == 61 && !w.Over {
			panic("at 61")
		}
	}
	o := locksteptest.Options{Weights: map[string]int{"give up": 0}, Ticks: 100, AllowThin: "it panics"}
	found, r, err := locksteptest.Search(t.Context(), lockstep.MustGame(rules), o, locksteptest.SearchOptions{Matches: 20})
	if err != nil || found == nil || found.Tick != 61 || r.Longest != 60 || r.Accepted[0].N == 0 || r.Fields-len(r.Still) < 2 {
		t.Errorf("got %v, %v, %v, want a failure at tick 61, and 60 ticks that were played", found, r, err)
	}
}

// The matches of a search must reach the floor, not only those that are played before it.
func TestSearchFloor(t *testing.T) {
	rules := raceRules(false)
	step := rules.Step
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		if step(w, c, turn); turn.Tick == 60 {
			w.Over = true
		}
	}
	o := locksteptest.Options{Weights: map[string]int{"give up": 0}, Ticks: 60, Seed: 1, Floor: locksteptest.Floor{Fields: 100}}
	g := lockstep.MustGame(rules)
	if err := locksteptest.Thin(g, o, nil); err != nil {
		t.Fatal(err)
	}
	short := 0
	for o.Seed < 25 {
		_, r, err := locksteptest.Search(t.Context(), g, o, locksteptest.SearchOptions{Matches: 1})
		if thin := len(r.Still) > 0; thin != errors.Is(err, locksteptest.ErrThin) {
			t.Errorf("seed %d: got %v, %v", o.Seed, r, err)
		} else if thin {
			short++
		}
		o.Seed++
	}
	if short == 0 || short == 24 {
		t.Errorf("%d of 24 matches reached too little", short)
	}
}

// A race that a player can give up.
type (
	race struct {
		Tick uint32
		At   [16]uint32
		Over bool
	}
	run    struct{ Steps uint8 }
	giveUp struct{}
)

// raceRules are rules whose match ends when a player gives up. Validate refuses commands then, unless it is missing.
func raceRules(validate bool) lockstep.Rules[race, struct{}] {
	r := lockstep.Rules[race, struct{}]{
		Name: "race", Build: "1",
		Commands: []lockstep.CommandType{lockstep.Type[run](1, "run"), lockstep.Type[giveUp](2, "give up")},
		New: func(_ *race, s *lockstep.Settings, _ *struct{}) error {
			if s.Players > 8 {
				return fmt.Errorf("got %d players, want at most 8", s.Players)
			}
			return nil
		},
		Step: func(w *race, _ *struct{}, turn *lockstep.Turn) {
			w.Tick++
			for i := range turn.Commands {
				c := &turn.Commands[i]
				switch v := c.Value.(type) {
				case *run:
					if !w.Over {
						w.At[c.Player] += 1 + uint32(v.Steps)
					}
				case *giveUp:
					w.Over = true
				}
			}
		},
	}
	if validate {
		r.Validate = func(w *race, _ *struct{}, _ *lockstep.Command) error {
			if w.Over {
				return errors.New("the race is over")
			}
			return nil
		}
	}
	return r
}

// A random command that ends the match leaves nothing to check, with and without Validate.
func TestThin(t *testing.T) {
	for validate, wants := range map[bool][]string{
		true:  {"commands were refused, and in 0 of", "\n\trun: ", " refused: the race is over\n\tgive up: ", "the last commands of 200 ticks that changed something were at tick 2: run, give up"},
		false: {"0 of 563 commands were refused, and in 63 of 64 ticks the accepted ones changed nothing", "that changed something were at tick 2: run, give up"},
	} {
		g := lockstep.MustGame(raceRules(validate))
		_, err := locksteptest.Run(g, locksteptest.Options{})
		if !errors.Is(err, locksteptest.ErrThin) {
			t.Errorf("validate %t: got %v", validate, err)
			continue
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("validate %t: got %v, want %q in it", validate, err, want)
			}
		}
		if want := `Weights: map[string]int{"give up": 0}`; !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
		for name, o := range map[string]locksteptest.Options{
			"excluded":       {Weights: map[string]int{"give up": 0}},
			"seldom":         {Weights: map[string]int{"run": 1000}},
			"with a reason":  {AllowThin: "a race is short"},
			"written":        {Orders: []locksteptest.Order{{Tick: 1, Value: &giveUp{}}}},
			"few commands":   {Ticks: 4},
			"bots that race": {Weights: map[string]int{"run": 0, "give up": 0}, Play: func(lockstep.Player, *lockstep.Simulation) []any { return []any{&run{}} }},
		} {
			if _, err := locksteptest.Run(g, o); err != nil {
				t.Errorf("validate %t: %s: got %v", validate, name, err)
			}
		}
	}
}

// A match that the rules end with the first commands leaves nothing to check.
func TestThinAfterEnd(t *testing.T) {
	rules := raceRules(false)
	rules.Result = lockstep.Result[giveUp]()
	step := rules.Step
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		step(w, c, turn)
		if w.Over || turn.Tick == 150 {
			turn.End(&giveUp{})
		}
	}
	g := lockstep.MustGame(rules)
	_, err := locksteptest.Run(g, locksteptest.Options{})
	if want := "the rules ended 1 of 1 match in their first fifth, after 2 ticks the last one; "; !errors.Is(err, locksteptest.ErrThin) ||
		!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `Weights: map[string]int{"give up": 0}`) {
		t.Errorf("got %v, want %q in it", err, want)
	}
	if err := locksteptest.Thin(g, locksteptest.Options{}, nil); !errors.Is(err, locksteptest.ErrThin) {
		t.Errorf("fuzz: got %v", err)
	}
	if _, err := locksteptest.Run(g, locksteptest.Options{Weights: map[string]int{"give up": 0}}); err != nil {
		t.Errorf("an end at tick 150: got %v", err)
	}
	o := locksteptest.GoldenOptions{Dir: t.TempDir(), Weights: map[string]int{"give up": 0}}
	if _, err := locksteptest.AddGolden(g, o); err != nil {
		t.Errorf("golden: got %v", err)
	}
	count := 0
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		step(w, c, turn)
		if count++; turn.Tick >= 60 && count%2 == 0 {
			turn.End(nil)
		}
	}
	if _, err := locksteptest.Run(lockstep.MustGame(rules), locksteptest.Options{Weights: map[string]int{"give up": 0}}); err == nil {
		t.Error("an end that only one of two machines computes is not found")
	}
}

// The error blames the command that ends the match, also if it changes no state.
func TestThinBlamesTheEnd(t *testing.T) {
	rules := raceRules(false)
	rules.Result = lockstep.Result[giveUp]()
	step := rules.Step
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		step(w, c, turn)
		if w.Over {
			w.Over = false
			turn.End(nil)
		}
	}
	g := lockstep.MustGame(rules)
	for seed := range uint64(8) {
		o := locksteptest.Options{Seed: seed + 1, Weights: map[string]int{"run": 3}}
		if _, err := locksteptest.Run(g, o); !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), `Weights: map[string]int{"give up": 0}`) {
			t.Errorf("seed %d: got %v, want an error that blames give up", o.Seed, err)
		}
		if _, n, err := locksteptest.Search(t.Context(), g, o, locksteptest.SearchOptions{Matches: 3}); !errors.Is(err, locksteptest.ErrThin) || n.Matches != 0 {
			t.Errorf("search from seed %d: got %v after %v", o.Seed, err, n)
		}
	}
}

// A command that changes nothing proves as little as one that is refused.
func TestThinWithoutEffect(t *testing.T) {
	rules := raceRules(false)
	rules.Step = func(w *race, _ *struct{}, turn *lockstep.Turn) { w.Tick++ }
	_, err := locksteptest.Run(lockstep.MustGame(rules), locksteptest.Options{})
	if want := "0 of "; !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), "in 64 of 64 ticks the accepted ones changed nothing") {
		t.Errorf("got %v, want %q in it", err, want)
	}
}

func TestWeights(t *testing.T) {
	counts := map[string]int{}
	rules := pastureRules()
	rules.Step = func(w *pasture, c *pastureConfig, turn *lockstep.Turn) {
		for i := range turn.Commands {
			counts[fmt.Sprintf("%T", turn.Commands[i].Value)]++
		}
		stepPasture(w, c, turn)
	}
	rules.Validate = nil
	o := options()
	o.Ticks, o.Weights = 400, map[string]int{"breed": 4}
	if _, err := locksteptest.Run(lockstep.MustGame(rules), o); err != nil {
		t.Fatal(err)
	}
	drives, breeds := counts["*locksteptest_test.drive"], counts["*locksteptest_test.breed"]
	if breeds < 3*drives || breeds > 5*drives {
		t.Errorf("got %d breeds, %d drives, want 4 to 1", breeds, drives)
	}
	for want, weights := range map[string]map[string]int{
		`got "bread" in Weights, want one of ["drive" "breed"]`: {"bread": 1},
		`got weight -1 of "breed", want 0 to 65536`:             {"breed": -1},
		`got weight 65537 of "drive"`:                           {"drive": 65537},
	} {
		o.Weights = weights
		if _, err := locksteptest.Run(lockstep.MustGame(pastureRules()), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Search, Fuzz and Cluster judge their first matches together.
func TestThinElsewhere(t *testing.T) {
	g := lockstep.MustGame(raceRules(true))
	o := locksteptest.Options{Ticks: 60}
	if _, n, err := locksteptest.Search(t.Context(), g, o, locksteptest.SearchOptions{Matches: 1}); !errors.Is(err, locksteptest.ErrThin) || n.Matches != 0 {
		t.Errorf("search: got %v after %v", err, n)
	}
	if err := locksteptest.Thin(g, o, nil); !errors.Is(err, locksteptest.ErrThin) {
		t.Errorf("fuzz: got %v", err)
	}
	o.Weights = map[string]int{"give up": 0}
	if _, n, err := locksteptest.Search(t.Context(), g, o, locksteptest.SearchOptions{Matches: 12}); err != nil || n.Matches != 12 {
		t.Errorf("search: got %v after %v", err, n)
	}
	if err := locksteptest.Thin(g, o, nil); err != nil {
		t.Errorf("fuzz: got %v", err)
	}
	closed := raceRules(true)
	closed.New = func(*race, *lockstep.Settings, *struct{}) error { return errors.New("closed") }
	for want, o := range map[string]locksteptest.ClusterOptions{
		"give up: ": {Seeds: 1, Clients: 2},
		"seed 1 needs 10 seats (8 clients, and seats for liars and strangers): lockstep: race: closed": {Seeds: 1, Clients: 8},
		`got "giveup" in Weights, want one of ["run" "give up"]`:                                       {Seeds: 1, Clients: 2, Weights: map[string]int{"giveup": 0}},
	} {
		r, g := &recorder{}, g
		func() {
			defer func() { _ = recover() }()
			if strings.HasSuffix(want, "closed") {
				g = lockstep.MustGame(closed)
			}
			locksteptest.Cluster(r, g, o)
		}()
		if !strings.Contains(r.text, want) {
			t.Errorf("cluster: got %q, want %q in it", r.text, want)
		}
	}
	locksteptest.Cluster(t, g, locksteptest.ClusterOptions{
		Seeds: 1, Clients: 2, Length: 40 * lockstep.Second, Weights: map[string]int{"give up": 0},
	})
}

// One player's command ends the match for all. Check says which.
func ExampleErrThin() {
	game := lockstep.MustGame(raceRules(true))
	_, err := locksteptest.Run(game, locksteptest.Options{})
	fmt.Println(errors.Is(err, locksteptest.ErrThin))
	_, err = locksteptest.Run(game, locksteptest.Options{Weights: map[string]int{"give up": 0}})
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

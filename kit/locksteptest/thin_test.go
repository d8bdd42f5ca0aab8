package locksteptest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

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

package lockstep_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A match of two players, from the rules to the state on another machine.
func Example() {
	game := lockstep.MustGame(testgame.LampRules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var follower *lockstep.Follower = game.NewFollower(lockstep.FollowerOptions{
		Observer: func(t lockstep.Tick, event any) { fmt.Printf("tick %d: %v\n", t, event) },
	})
	coordinator, err := coordinator.New(game, header, follower, coordinator.Options{InputDelay: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	coordinator.Join(0)
	coordinator.Join(1)
	coordinator.Tick()

	payloads := game.NewPayloads()
	kind, payload, err := payloads.Encode(&testgame.Press{Lamp: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(coordinator.Submit(1, 1, kind, payload))
	fmt.Println(coordinator.Submit(1, 1, kind, payload)) // again, perhaps after a reconnect
	coordinator.Tick()
	coordinator.Tick()

	fmt.Println(lockstep.World[testgame.Lamps](follower.Simulation()).On)
	// Output:
	// accepted for tick 3
	// accepted for tick 3
	// tick 3: player 1 presses 3
	// [false false false true]
}

// A command type is a kind, a name and a Go type of plain data.
func ExampleCommandType() {
	var t lockstep.CommandType = lockstep.Type[testgame.Press](7, "press")
	fmt.Println(t.Kind, t.Name)
	// Output: 7 press
}

func ExampleCompare() {
	a := lockstep.Command{Tick: 7, Player: 1, Sequence: 9}
	b := lockstep.Command{Tick: 7, Player: 2, Sequence: 1}
	fmt.Println(record.Compare(&a, &b))
	// Output: -1
}

// A Go type that could differ between machines is refused when the game is
// compiled.
func ExampleNewGame() {
	type world struct{ Units []struct{ Speed float64 } }
	_, err := lockstep.NewGame(lockstep.Rules[world, testgame.Nobody]{
		Name: "floats", Build: "1",
		New:  func(*world, *lockstep.Settings, *testgame.Nobody) error { return nil },
		Step: func(*world, *testgame.Nobody, *lockstep.Turn) {},
	})
	fmt.Println(err != nil)
	// Output: true
}

// Two builds never play together; the error names what differs.
func ExampleIdentityError() {
	var game *lockstep.Game = lockstep.MustGame(testgame.LampRules)
	newer := testgame.LampRules
	newer.Build = "2"
	var header *lockstep.Header
	header, err := lockstep.MustGame(newer).NewHeader(lockstep.MatchID{}, lockstep.Settings{Seed: 1, Players: 2, TickMicros: lockstep.TickPeriod(20), CheckEvery: 20}, &testgame.Nobody{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = game.CheckIdentity(header)
	var differs *lockstep.IdentityError
	fmt.Println(errors.As(err, &differs), err)
	for _, c := range header.Commands {
		var d record.CommandDescription = c
		fmt.Println(d.Kind, d.Name)
	}
	// Output:
	// true lockstep: other build: got 2, want 1
	// 1 press
}

// A game refuses a match that it cannot play.
func ExampleConfigError() {
	rules := testgame.LampRules
	rules.New = func(_ *testgame.Lamps, s *lockstep.Settings, _ *testgame.Nobody) error {
		return fmt.Errorf("got %d players, want 2", s.Players)
	}
	_, err := lockstep.MustGame(rules).NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(3), &testgame.Nobody{})
	var refusal *lockstep.ConfigError
	fmt.Println(errors.As(err, &refusal), refusal.Err)
	fmt.Println(&lockstep.ConfigError{Game: "lamps", Err: errors.New("lamps: no lamp")}) // the name once
	// Output:
	// true got 3 players, want 2
	// lockstep: lamps: no lamp
}

// A panic in a game's code ends that match alone.
func ExamplePanicError() {
	rules := testgame.LampRules
	rules.Step = func(w *testgame.Lamps, _ *testgame.Nobody, turn *lockstep.Turn) {
		if turn.Tick == 2 {
			panic("no such lamp")
		}
	}
	game := lockstep.MustGame(rules)
	header, err := game.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &testgame.Nobody{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var sim *lockstep.Simulation
	sim, err = game.NewSimulation(header)
	for t := lockstep.Tick(1); err == nil; t++ {
		err = sim.Step(&lockstep.Frame{Tick: t})
	}
	var fault *lockstep.PanicError
	fmt.Println(errors.As(err, &fault), err)
	// Output: true lockstep: tick 2: the game panicked in Step: no such lamp
}

// Two machines compare what they make of small computations before they play.
// One whose sums are others would compute another match.
func ExampleSelfTest() {
	test := lockstep.MustGame(testgame.LampRules).SelfTest()
	fmt.Println(test.Check())
	var part lockstep.SelfTestPart = test.Parts()[0]
	fmt.Println(part.Name, *part.Sum == test.Integers)

	test.Integers++ // as a machine that cannot count has it
	text, _, _ := strings.Cut(fmt.Sprint(test.Check()), ": got ")
	fmt.Println(text)
	// Output:
	// <nil>
	// integers true
	// lockstep: self-test of integers
}

// A configuration file names the fields that differ from the usual match.
func ExampleGame_ReadConfig() {
	type config struct{ Rounds, Gold uint16 }
	game := lockstep.MustGame(lockstep.Rules[testgame.Bank, config]{
		Name: "rounds", Build: "1",
		New:  func(*testgame.Bank, *lockstep.Settings, *config) error { return nil },
		Step: func(*testgame.Bank, *config, *lockstep.Turn) {},
	})
	read, err := game.ReadConfig([]byte(`{"Gold": 500}`), &config{Rounds: 3, Gold: 100})
	fmt.Printf("%+v %v\n", read, err)
	err = game.WriteConfig(os.Stdout, read)
	fmt.Println(err, game.ConfigSchema().SectionName(1))
	_, err = game.ReadConfig([]byte(`{"Gold": "much"}`), nil)
	fmt.Println(err)
	// Output:
	// &{Rounds:3 Gold:500} <nil>
	// {"Rounds":3,"Gold":500}
	// <nil> Gold
	// lockstep: configuration of rounds: state: JSON: Gold: got "much", want a whole number from 0 to 65535
}

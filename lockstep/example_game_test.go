package lockstep_test

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
)

// The game of the Examples: a row of lamps, which everyone may press.
type (
	lamps struct {
		On      [4]bool
		Presses uint32
		Seats   uint8
	}
	press  struct{ Lamp uint8 }
	nobody struct{} // the configuration
)

var lampRules = lockstep.Rules[lamps, nobody]{
	Name:     "lamps",
	Build:    "1",
	Commands: []lockstep.CommandType{lockstep.Type[press](1, "press")},
	New:      func(*lamps, *lockstep.Settings, *nobody) error { return nil },
	Step: func(w *lamps, turn *lockstep.Turn) {
		for _, c := range turn.Commands {
			switch m := c.Value.(type) {
			case *press:
				w.On[m.Lamp%4] = !w.On[m.Lamp%4]
				w.Presses++
				lockstep.Emit(turn, fmt.Sprintf("player %d presses %d", c.Player, m.Lamp))
			case *lockstep.Joined:
				w.Seats++
			case *lockstep.Left:
				w.Seats--
			}
		}
	},
	Validate: func(w *lamps, c *lockstep.Command) error {
		if m, ok := c.Value.(*press); ok && m.Lamp >= 4 {
			return errors.New("there are four lamps")
		}
		return nil
	},
}

// newLamps begins a match of two players, whose records go to log.
func newLamps(log lockstep.Log, o lockstep.CoordinatorOptions) (*lockstep.Game, *lockstep.Coordinator) {
	game := lockstep.MustGame(lampRules)
	settings := lockstep.DefaultSettings(2)
	settings.CheckEvery, settings.KeyframeEvery = 2, 4
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &nobody{})
	if err != nil {
		panic(err)
	}
	header.Platform = "any"
	c, err := lockstep.NewCoordinator(game, header, log, o)
	if err != nil {
		panic(err)
	}
	for p := range lockstep.Player(2) {
		c.Join(p)
	}
	return game, c
}

func ticks(c *lockstep.Coordinator, n int) {
	for range n {
		if _, err := c.Tick(); err != nil {
			fmt.Println(err)
		}
	}
}

// A match of two players, from the rules to the state on another machine.
func Example() {
	game := lockstep.MustGame(lampRules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &nobody{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var follower *lockstep.Follower = game.NewFollower(lockstep.FollowerOptions{
		Observer: func(t lockstep.Tick, event any) { fmt.Printf("tick %d: %v\n", t, event) },
	})
	coordinator, err := lockstep.NewCoordinator(game, header, follower, lockstep.CoordinatorOptions{InputDelay: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	coordinator.Join(0)
	coordinator.Join(1)
	coordinator.Tick()

	payloads := game.NewPayloads()
	kind, payload, err := payloads.Encode(&press{Lamp: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(coordinator.Submit(1, 1, kind, payload))
	fmt.Println(coordinator.Submit(1, 1, kind, payload)) // again, perhaps after a reconnect
	coordinator.Tick()
	coordinator.Tick()

	fmt.Println(lockstep.World[lamps](follower.Simulation()).On)
	// Output:
	// accepted for tick 3
	// accepted for tick 3
	// tick 3: player 1 presses 3
	// [false false false true]
}

// A command type is a kind, a name and a Go type of plain data.
func ExampleCommandType() {
	t := lockstep.Type[press](7, "press")
	fmt.Println(t.Kind, t.Name)
	// Output: 7 press
}

func ExampleCompare() {
	a := lockstep.Command{Tick: 7, Player: 1, Sequence: 9}
	b := lockstep.Command{Tick: 7, Player: 2, Sequence: 1}
	fmt.Println(lockstep.Compare(&a, &b))
	// Output: -1
}

// A Go type that could differ between machines is refused when the game is
// compiled.
func ExampleNewGame() {
	type world struct{ Units []struct{ Speed float64 } }
	_, err := lockstep.NewGame(lockstep.Rules[world, nobody]{
		Name: "floats", Build: "1",
		New:  func(*world, *lockstep.Settings, *nobody) error { return nil },
		Step: func(*world, *lockstep.Turn) {},
	})
	fmt.Println(err != nil)
	// Output: true
}

// Two builds never play together; the error names what differs.
func ExampleIdentityError() {
	var game *lockstep.Game = lockstep.MustGame(lampRules)
	newer := lampRules
	newer.Build = "2"
	var header *lockstep.Header
	header, err := lockstep.MustGame(newer).NewHeader(lockstep.MatchID{}, lockstep.Settings{Seed: 1, Players: 2, TickRate: 20, CheckEvery: 20}, &nobody{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = game.CheckIdentity(header)
	var differs *lockstep.IdentityError
	fmt.Println(errors.As(err, &differs), err)
	for _, c := range header.Commands {
		var d lockstep.CommandDescription = c
		fmt.Println(d.Kind, d.Name)
	}
	// Output:
	// true lockstep: other build: got 2, want 1
	// 1 press
}

// A panic in a game's code ends that match alone.
func ExamplePanicError() {
	rules := lampRules
	rules.Step = func(w *lamps, turn *lockstep.Turn) {
		if turn.Tick == 2 {
			panic("no such lamp")
		}
	}
	game := lockstep.MustGame(rules)
	header, err := game.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &nobody{})
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
	test := lockstep.MustGame(lampRules).SelfTest()
	fmt.Println(test.Check())

	test.Integers++ // as a machine that cannot count has it
	var fault *lockstep.SelfTestError
	if errors.As(test.Check(), &fault) {
		fmt.Println(fault.Part, fault.Got == fault.Want)
	}
	// Output:
	// <nil>
	// integers false
}

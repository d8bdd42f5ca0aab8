package program_test

import (
	"fmt"
	"os"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/page/canvas"
	"github.com/seed-49bee653/samestep/page/input"
	"github.com/seed-49bee653/samestep/page/program"
	"github.com/seed-49bee653/samestep/page/watch"
)

// A page of a game's own has functions of its own, and those of replays.
func ExampleFunctions() {
	var clicks *program.Input = program.NewInput(input.Handler[minimal.World]{})
	game := program.Game{Game: lockstep.MustGame(minimal.Rules()), Input: clicks, Draw: func(*canvas.Canvas, *lockstep.Simulation) {},
		Scenarios: []program.Scenario{{Name: "huge", Players: 4, Config: func(uint8) any { return &minimal.Config{Size: 200, Coins: 50} }}}}
	file, err := os.ReadFile("none.ssr")
	fmt.Println(err != nil)
	var v *watch.Viewer
	f := program.Functions{"name": func(program.Arguments) any { return game.Name() }}
	f.Lobby(game)
	f.Watch(func() *watch.Viewer { return v }, func(file []byte) (any, error) { v, err = watch.Open(file, game.Game); return nil, err })
	fmt.Println(f["games"](nil))
	fmt.Println(f["name"](nil), len(file), f["watchTick"](nil))
	if v != nil {
		var s program.WatchState = program.StateOf(v)
		fmt.Println(s.Tick)
	}
	// Output:
	// true
	// [{"name":"minimal","sized":false,"bots":[],"scenarios":[{"name":"huge","players":4}]}]
	// minimal 0 <nil>
}

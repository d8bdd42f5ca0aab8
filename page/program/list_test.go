package program_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/module/guest"
	"github.com/seed-49bee653/samestep/page/program"
)

// A site tells the lobby of its games, which is shown before the program has arrived.
func ExampleList() {
	game := program.Game{Game: lockstep.MustGame(minimal.Rules()), Bots: []string{"usual", "clever"}}
	fmt.Println(string(program.List(game, game)))
	// Output:
	// [{"name":"minimal","build":"1","sized":false,"bots":["usual","clever"],"scenarios":[]}]
}

// A site has the modules of games that its program is built without.
func ExampleFiles() {
	game := lockstep.MustGame(minimal.Rules())
	machine, err := guest.New(minimal.Rules(), minimal.Usual)
	if err != nil {
		fmt.Println(err)
		return
	}
	usual := program.UsualOf(one{machine}, game)
	for name, content := range program.Files(program.Game{Game: game, Config: usual, Module: []byte("a module")}) {
		if name == "games.json" {
			fmt.Println(string(content))
		}
	}
	_, given := usual(2).(*record.Untyped)
	fmt.Println(given)
	// Output:
	// [{"name":"minimal","build":"1","sized":false,"bots":[],"scenarios":[],"rules":[{"build":"1","sum":"f6c0d945dc8a9e01854484f4e9b123945919e553778d4386d1d939451c038a0c"}]}]
	// true
}

// one is a machine with one instance.
type one struct{ abi.Caller }

// New implements abi.Machine.
func (m one) New() (abi.Caller, error) { return m, nil }

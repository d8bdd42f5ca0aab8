package module_test

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/module"
)

// Rules in a module become a game like any other.
func ExampleCompile() {
	play := func(file []byte) error {
		rules, err := module.Compile(file, module.Options{Time: module.DefaultTime})
		if err != nil {
			return err
		}
		game, err := lockstep.NewGameElsewhere(rules)
		if err != nil {
			return err
		}
		fmt.Println(game.Name())
		return nil
	}
	err := play([]byte("no module"))
	fmt.Println(errors.Is(err, module.ErrMalformed))
	// Output: true
}

//go:build !js

package module_test

import (
	"errors"
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/module"
)

// The functions that a tick calls, in their order.
func ExampleCompileTraced() {
	trace := func(file []byte, step func(*lockstep.Game) error) error {
		var rules *module.Traced
		rules, err := module.CompileTraced(file, module.Options{})
		if err != nil {
			return err
		}
		var observer *module.Observer = rules.Observer(nil)
		game, err := lockstep.NewGameElsewhere(observer)
		if err != nil {
			return err
		}
		for _, v := range rules.Variables {
			var known module.Variable = v
			fmt.Println(known.Name, "is at", known.At)
		}
		observer.Observe(abi.Step, nil, func(e module.Event) {
			var called module.Function = rules.Functions[e.Function]
			if e.Begins {
				fmt.Println("calls", called.Name, "with", e.Values)
			}
		})
		defer observer.Close()
		return step(game)
	}
	err := trace([]byte("no module"), nil)
	fmt.Println(errors.Is(err, module.ErrMalformed))
	// Output: true
}

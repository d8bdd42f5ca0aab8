//go:build !js

package module_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
)

// moduleIn returns the module of rules in a replay.
func moduleIn(name string) ([]byte, error) {
	f, err := replay.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		return nil, err
	}
	rules, err := r.Rules()
	if err != nil {
		return nil, err
	}
	return rules.Module()
}

// The rules in a file of somebody else have a budget: here they have hardly any time.
func ExampleBudget() {
	b, err := moduleIn("../examples/pebbles/testdata/golden/pebbles-1.ssr")
	if err != nil {
		fmt.Println(err)
		return
	}
	budget := &module.Budget{Time: time.Nanosecond, Memory: 64 << 20}
	rules, err := module.Compile(b, module.Options{Budget: budget}) // compiling counts
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rules.Close()
	game, err := lockstep.NewGameElsewhere(rules.Within(budget))
	fmt.Println(game, err)
	// Output:
	// <nil> lockstep: rules: Describe: all calls of the rules together took longer than 1ns
}

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

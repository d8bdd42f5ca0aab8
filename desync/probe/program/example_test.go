package program_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-49bee653/samestep/desync/probe/program"
	"github.com/seed-49bee653/samestep/lockstep"
)

type world struct{ Tick uint32 }

type config struct{}

func rules() lockstep.Rules[world, config] {
	return lockstep.Rules[world, config]{
		Name: "clock", Build: "1",
		New:  func(*world, *lockstep.Settings, *config) error { return nil },
		Step: step,
	}
}

func step(w *world, _ *config, t *lockstep.Turn) { w.Tick = uint32(t.Tick) }

// The main that samestep desync line writes calls program.Main with a Maker for each of the rules.
func ExampleMaker() {
	var m program.Maker = program.Of(rules)
	g, err := m.Game()
	fmt.Println(g.Name(), err)
	var step program.Function = m.Step()
	fmt.Println(step.Name, step.Place() == step.Name)
	// Output:
	// clock <nil>
	// github.com/seed-49bee653/samestep/desync/probe/program_test.step true
}

// A Job and its Result are files.
func ExampleJob() {
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	j := program.Job{Kind: program.Trace, Log: filepath.Join(dir, "log"), Folder: dir, Tick: 78}
	path := filepath.Join(dir, "job.json")
	if err := program.WriteJSON(path, &j); err != nil {
		panic(err)
	}
	var same program.Job
	fmt.Println(program.ReadJSON(path, &same), same.Kind, same.Tick)

	done := program.Result{Runs: []program.Run{{Hash: 1, Events: 3, Phases: []program.Phase{{Name: "combat"}}}}, Before: []program.Latest{{Site: 2, Tick: 77, Value: "5"}}}
	done.Field = &program.Field{Path: "Units[26].Cooldown", Value: "16", Type: "uint16"}
	fmt.Println(done.Runs[0].Events, done.Runs[0].Phases[0].Name, done.Before[0].Value)
	// Output:
	// <nil> trace 78
	// 3 combat 5
}

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

	drawn := []program.Draws{{Purpose: "damage", Phase: "combat", Count: 3}}
	done := program.Result{Runs: []program.Run{{Hash: 1, Events: 3, Phases: []program.Phase{{Name: "combat"}}, Draws: drawn}}, Before: []program.Latest{{Site: 2, Tick: 77, Value: "5"}}}
	done.Field = &program.Field{Path: "Units[26].Cooldown", Value: "16", Type: "uint16"}
	fmt.Println(done.Runs[0].Events, done.Runs[0].Phases[0].Name, done.Runs[0].Draws[0].Count, done.Before[0].Value)
	// Output:
	// <nil> trace 78
	// 3 combat 3 5
}

// A step is recorded in files. Without probes, as here, only the state after it is.
func ExampleRecord() {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	g := lockstep.MustGame(rules())
	h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(1), &config{})
	if err != nil {
		panic(err)
	}
	sim, err := g.NewSimulation(h)
	if err != nil {
		panic(err)
	}
	history := program.History{}
	fmt.Println(history.Step(1, func() error { return sim.Step(&lockstep.Frame{Tick: 1}) }), len(history.List()))

	var r *program.Recording
	if r, err = program.Record(dir, 0, sim, nil); err != nil {
		panic(err)
	}
	run, err := r.End(sim.Step(&lockstep.Frame{Tick: 2}))
	fmt.Println(run.Trace, run.State, run.Events, run.Hash == sim.Hash(), err)
	// Output:
	// <nil> 0
	// trace-0 state-0 0 true <nil>
}

// Only a program that samestep has built with probes has the job of a check.
func ExampleCheckJobOf() {
	if d := program.LineTime(); d < 0 {
		fmt.Println("no time:", d)
	}
	var j *program.CheckJob = program.CheckJobOf()
	fmt.Println(j == nil)
	t := program.TestJob{Dir: "rules", Run: "^TestDeterminism$", Check: program.CheckJob{Phase: program.SameWay[0], Tick: 78}}
	fmt.Println(t.Check.Phase, t.Check.Tick)
	// Output:
	// true
	// two runs 78
}

//go:build !js

package line_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-49bee653/samestep/desync/line"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
)

// A Result names the line, and what differed there.
func ExampleResult() {
	at := &line.Place{File: "rules/combat.go", Line: 12, Func: "combat.hit", Source: "u.Health -= damage"}
	r := &line.Result{
		Mode: line.Versions, Sides: [2]string{"v1.2", "v1.3"}, Last: 90, Tick: 41,
		Fields: []line.Field{{Path: "Units[ID=7].Health", Values: [2]string{"70", "68"}}},
		Finding: &line.Finding{
			Reason: line.Reason("value"), Where: [2]*line.Place{at, at}, Text: at.Source, Values: [2]string{"70", "68"},
			Writes: []line.Write{{Place: *at, Name: "u.Health", Text: at.Source, Values: [2]string{"70", "68"}}},
		},
	}
	fmt.Println(r.Verdict())
	// Output:
	// u.Health -= damage is 70 | 68

}

// An Endless says why a side has no result of a tick.
func ExampleEndless() {
	r := &line.Result{Mode: line.Mode("again"), Tick: 41, Endless: [2]*line.Endless{nil, {Megabytes: 2048}}}
	fmt.Println(r.Verdict())
	// Output:
	// B needs more than 2048 MB in tick 41

}

// A Datum differs before the match, and is the reason of all that comes after.
func ExampleDatum() {
	at := &line.Place{File: "rules/table.go", Line: 3, Func: "the declaration of rules.Costs"}
	d := line.Datum{Name: "rules.Costs[1]", Values: [2]string{"50", "60"}, Where: [2]*line.Place{at, at}, Read: true}
	r := &line.Result{Mode: line.Versions, Data: []line.Datum{d}, Changed: []line.Change{{Where: d.Where}}}
	fmt.Println(r.Verdict())
	// Output:
	// the data differ: rules/table.go:3  rules.Costs[1] is 50 | 60

}

// A Reported says whether a bundle's checksums are those of the two sides.
func ExampleReported() {
	r := &line.Result{Mode: line.Versions, Sides: [2]string{"v1.2", "v1.3"}, Last: 90, Reported: &line.Reported{
		Ticks: 2, Sides: []line.Reproduce{{Referee: true}, {Player: true}}, Text: []string{"A computes what the referee computed, B what the player computed"},
	}}
	_ = r.WriteText(os.Stdout)
	// Output:
	// sides      A: v1.2
	//            B: v1.3
	// bundle     A computes what the referee computed, B what the player computed
	// verdict    both versions compute the same from tick 0 to 90

}

// A Finder compares many files, and a Summary groups what it found by line.
func ExampleFinder() {
	f, err := replay.Open("../../testdata/replays/duel.ssr")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	x, err := line.NewFinder() // builds the probes once for all files
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Close()
	var s line.Summary
	r, err := x.Find(context.Background(), f, line.Options{Other: "v1.3", Platform: "js/wasm"})
	s.Add("match", r, err)
	at := &line.Place{File: "rules/combat.go", Line: 12, Func: "combat.hit", Source: "u.Health -= damage"}
	s.Groups = append(s.Groups, &line.Row{Line: at, Count: 2})
	for _, one := range []line.Failed(s.Failed) {
		fmt.Println(one.File, one.Error)
	}
	// Output:
	// match line: name another version or another platform, not both

}

// A FunctionFinder does the same for a game whose rules are in a WebAssembly module. A Session stands in a debugger instead.
func ExampleFunctionFinder() {
	f, err := replay.Open("../../testdata/replays/duel.ssr")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	var x line.FunctionFinder
	defer x.Close()
	other := errors.New("rules of another game")
	m := &line.Module{Name: "pebbles.wasm", Rules: new(module.Rules), Game: func(abi.Machine) (*lockstep.Game, error) { return nil, other }}
	_, err = x.Find(context.Background(), f, line.Options{}, m, nil)
	fmt.Println(err)

	var s *line.Session
	s, err = line.Prepare(context.Background(), f, "", "", line.Options{Source: "testdata/none"})
	fmt.Println(s == nil, err != nil)
	// Output:
	// pebbles.wasm: rules of another game
	// true true

}

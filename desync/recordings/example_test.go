package recordings_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/seed-49bee653/samestep/desync/recordings"
	"github.com/seed-49bee653/samestep/replay"
)

// readRecording reads the recording of a machine.
func readRecording(m recorded, name string) *recordings.Recording {
	file := m.replay()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	found, err := recordings.Read(r, name)
	if err != nil {
		panic(err)
	}
	return found
}

// Two machines have recorded a match of another engine (docs/import.md). They are compared like samestep replay bisect does.
func ExampleCompare() {
	a, b := readRecording(recorded{by: 0}, "a.jsonl"), readRecording(recorded{by: 1, wrong: 6}, "b.jsonl")
	d, err := recordings.Compare([]*recordings.Recording{a}, []*recordings.Recording{b}, recordings.Options{Limit: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	var missing *recordings.MissingStates = d.Missing
	fmt.Println(d.Cause == recordings.CauseStates, d.Tick, d.Sections, missing.Dump)

	// Both machines play the match again with that, and record the states.
	states := []int{5, 6}
	all := []*recordings.Recording{a, b, readRecording(recorded{by: 0, states: states}, "a2.jsonl"), readRecording(recorded{by: 1, wrong: 6, states: states}, "b2.jsonl")}
	sideA, sideB, err := recordings.SidesOf(all)
	if err != nil {
		fmt.Println(err)
		return
	}
	if d, err = recordings.Compare(sideA, sideB, recordings.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	d.WriteText(os.Stdout)
	// Output:
	// true 6 [X] 5,6
	// answer     X 9 → 9.000001 (1 ulp) at tick 6, player 0 | player 1
	// verdict    the states agree at tick 5 and differ at tick 6, from the same
	//              commands
	// A          a.jsonl: player 0, build "1", plan9/mips: 10 ticks, 10 checksums
	//            a2.jsonl: player 0, build "1", plan9/mips: 10 ticks, 10 checksums, 2
	//              states
	// B          b.jsonl: player 1, build "1", plan9/mips: 10 ticks, 10 checksums
	//            b2.jsonl: player 1, build "1", plan9/mips: 10 ticks, 10 checksums, 2
	//              states
	// commands   the same up to tick 10
	// compared   the checksums of 10 ticks, different in 4 of them
	// diverged   at tick 6
	// sections   X
	// state      tick 6: 1 field differs in 1 place
	//            X 9 → 9.000001 (1 ulp)
}

// What is compared: sides with their recordings, and what a second run has shown.
func ExampleDivergence() {
	var d recordings.Divergence
	var side recordings.Side = d.A
	fmt.Println(len(side.More), len(d.Reruns))
	r := recordings.Rerun{Side: "A", File: "a2.jsonl", Tick: 40, Sections: []string{"Units"}}
	fmt.Println(&r)
	d.Traces = &recordings.Traces{Phase: &recordings.PhaseDifference{Tick: 40, Name: "collide", A: "00000000000000ff", B: "0000000000000100"}}
	fmt.Println(d.Traces.Phase.Name, d.Traces.Draws)
	for _, cause := range []recordings.DivergenceCause{recordings.CauseNone, recordings.CauseCommands, recordings.CauseStates, recordings.CauseStart, recordings.CausePhases, recordings.CauseRerun} {
		fmt.Print(cause, " ")
	}
	fmt.Println()
	// Output:
	// 0 0
	// a2.jsonl differs from the first recording of A at tick 40 in Units, from the same commands
	// collide <nil>
	// none commands states beginning phases nondeterminism
}

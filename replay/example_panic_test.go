package replay_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// The panic in a file says where the rules panicked and with what; [replay.Verify] computes its tick again. A bundle of a panic says the same
// in its table of contents.
func ExampleNewPanic() {
	var recorded = &record.Panic{Where: record.InStep, Text: "index out of range", Frame: record.Frame{Tick: 140}}
	var p *replay.Panic = replay.NewPanic(&record.Record{Kind: record.KindPanic, Panic: recorded})
	fmt.Println(p)
	p.Computed = true // by Verify, with rules that do not panic
	fmt.Println(p)

	m := replay.Manifest{Tick: p.Tick, Player: 1, Panic: &replay.BundlePanic{Where: p.Where, Text: p.Text}}
	fmt.Println(m.Where())
	// Output:
	// tick 140: the rules panicked in Step: index out of range
	// tick 140: the rules panicked in Step: index out of range; computed again here, they do not panic
	// on the machine of player 1
}

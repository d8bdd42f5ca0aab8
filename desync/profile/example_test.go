package profile_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/profile"
)

// The worst tick is known with the phase that was slow in it.
func Example() {
	var tb testing.T
	var b bench
	var o profile.Options = profile.Options{Worst: 1, Repeat: time.Millisecond}
	var p *profile.Profile = measured(&tb, &b, day(&tb), o)
	var step profile.Cost = p.Step
	fmt.Println("p50", step.P50, "µs, at most", step.Max, "µs in tick", step.At)
	var phases []profile.Phase = p.Phases
	var a *profile.Allocations = phases[0].Allocations
	fmt.Println(len(phases), "phases, of which the first allocates", a.Bytes > 1000)
	var worst profile.Tick = p.Worst[0]
	var slowest profile.Time = worst.Phases[0]
	fmt.Println(slowest.Name, "took", slowest.US, "µs")
	var lists []profile.Count = worst.Lists
	fmt.Println(lists[0].Name, lists[0].N)
	var tenth profile.Part = p.Tenths[0]
	fmt.Println("ticks", tenth.From, "to", tenth.To, "took up to", tenth.Max, "µs")
	// Output:
	// p50 33 µs, at most 43 µs in tick 40
	// 3 phases, of which the first allocates false
	// work took 40 µs
	// Workers[].Tools 90
	// ticks 1 to 4 took up to 15 µs
}

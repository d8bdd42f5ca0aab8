package checksum_test

import (
	"fmt"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/state"
)

type World struct {
	Tick uint32
	Gold [2]int64
}

var codec = state.MustCompile[World]()

// A value and its snapshot have the same sum.
func ExampleSum() {
	world := World{Tick: 120, Gold: [2]int64{50, 75}}
	var live, stored checksum.Sum
	checksum.Of(&live, codec, &world)
	if err := checksum.OfBytes(&stored, codec.Schema(), codec.Append(nil, &world)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(checksum.FormatHash(live.Hash), live.Hash == stored.Hash)
	// Output: 4023f7a6352a79c3 true
}

// Two sums are compared to the first section that differs.
func ExampleMismatch() {
	var ours, theirs checksum.Sum
	checksum.Of(&ours, codec, &World{Tick: 120, Gold: [2]int64{50, 75}})
	checksum.Of(&theirs, codec, &World{Tick: 120, Gold: [2]int64{50, 74}})
	mismatch, equal := checksum.Compare(ours, theirs, codec.Schema())
	fmt.Println(equal, mismatch)
	// Output: false section Gold: a30d94679f487d7e != 91971328b74588e3
}

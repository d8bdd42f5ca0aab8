package checksum

import (
	"slices"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/state"
)

type soldier struct {
	ID, Target           uint32
	Pos, Goal, Speed     [2]int64
	HP, Damage           int32
	Orders               [5]uint32
	Team, Kind, Level    uint8
	Alive, Busy, Carries bool
	Cooldown             uint16
	Zone                 uint32
}

// benchWorld has 10,000 units of 96 bytes, without padding.
type benchWorld struct {
	Tick  uint32
	Seed  [2]uint64
	Units []soldier
	Gold  [8]int64
	Fog   []uint8
}

// BenchmarkSum compares both ways to a sum with one xxhash over the same bytes, taken in turns, and reports the median
// of the ratio of their times:
//
//	go test ./checksum -run xxx -bench Sum -count 6
func BenchmarkSum(b *testing.B) {
	c := state.MustCompile[benchWorld]()
	w := &benchWorld{Units: make([]soldier, 10_000), Fog: make([]uint8, 4096)}
	for i := range w.Units {
		w.Units[i] = soldier{ID: uint32(i), HP: 100, Alive: true}
	}
	snapshot := c.Append(nil, w)
	var sum Sum
	compare := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			f()
			var ratios []float64
			for b.Loop() {
				start := time.Now()
				xxhash.Sum64(snapshot)
				middle := time.Now()
				f()
				ratios = append(ratios, float64(time.Since(middle))/float64(max(1, middle.Sub(start))))
			}
			slices.Sort(ratios)
			b.ReportMetric(0, "ns/op") // of both together
			b.ReportMetric(ratios[len(ratios)/2], "x/xxhash")
		})
	}
	compare("Of", func() { Of(&sum, c, w) })
	compare("OfBytes", func() {
		if err := OfBytes(&sum, c.Schema(), snapshot); err != nil {
			b.Fatal(err)
		}
	})
}

package state

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Four ways to lay out much the same unit: without gaps, with four bytes of padding at the end, with padding behind every
// field, and with a slice inside.

type flatUnit struct {
	ID, Target           uint32
	Pos, Goal, Speed     [2]int64
	HP, Damage           int32
	Team, Kind           uint8
	Order                uint16
	Cooldown             uint32
	Orders               [4]uint32
	Alive, Busy, Carries bool
	Level                uint8
	Zone                 uint32
}

type gappedUnit struct {
	ID, Target           uint32
	Pos, Goal, Speed     [2]int64
	HP, Damage           int32
	Team, Kind           uint8
	Order                uint16
	Cooldown             uint32
	Orders               [4]uint32
	Alive, Busy, Carries bool
	Level                uint8
}

type paddedUnit struct {
	Alive    bool
	ID       uint32
	Team     uint8
	Pos      [2]int64
	Kind     uint8
	Target   uint32
	Order    uint16
	Goal     [2]int64
	Busy     bool
	Speed    [2]int64
	Carries  bool
	HP       int32
	Level    uint8
	Damage   int32
	Cooldown uint32
	Orders   [4]uint32
	Zone     uint32
}

type slicedUnit struct {
	ID, Target           uint32
	Pos, Goal, Speed     [2]int64
	HP, Damage           int32
	Team, Kind           uint8
	Order                uint16
	Cooldown             uint32
	Orders               []uint32
	Alive, Busy, Carries bool
	Level                uint8
	Zone                 uint32
}

type benchWorld[U any] struct {
	Tick  uint32
	Seed  uint64
	Units []U
	Gold  [8]int64
	Fog   []uint8
}

func newBenchWorld[U any](set func(*U, int)) *benchWorld[U] {
	w := &benchWorld[U]{Tick: 1, Seed: 2, Units: make([]U, 10_000), Fog: make([]uint8, 4096)}
	for i := range w.Units {
		set(&w.Units[i], i)
	}
	return w
}

func newFlatWorld() *benchWorld[flatUnit] {
	return newBenchWorld(func(u *flatUnit, i int) { u.ID, u.HP, u.Alive = uint32(i), 100, true })
}

func newGappedWorld() *benchWorld[gappedUnit] {
	return newBenchWorld(func(u *gappedUnit, i int) { u.ID, u.HP, u.Alive = uint32(i), 100, true })
}

func newPaddedWorld() *benchWorld[paddedUnit] {
	return newBenchWorld(func(u *paddedUnit, i int) { u.ID, u.HP, u.Alive = uint32(i), 100, true })
}

func newSlicedWorld() *benchWorld[slicedUnit] {
	return newBenchWorld(func(u *slicedUnit, i int) { u.ID, u.HP, u.Orders = uint32(i), 100, make([]uint32, 4) })
}

// The benchmarks report each way through a codec as a ratio to copy, or to xxhash, of the same bytes, taken in turns so
// that both see the same machine. The figures in the package comment come from
//
//	go test ./state -run xxx -bench . -count 6

func BenchmarkFlat(b *testing.B)   { benchmark(b, newFlatWorld()) }
func BenchmarkGapped(b *testing.B) { benchmark(b, newGappedWorld()) }
func BenchmarkPadded(b *testing.B) { benchmark(b, newPaddedWorld()) }
func BenchmarkSliced(b *testing.B) { benchmark(b, newSlicedWorld()) }

func benchmark[U any](b *testing.B, w *benchWorld[U]) {
	c := MustCompile[benchWorld[U]]()
	snapshot := c.Append(nil, w)
	buf, same := make([]byte, len(snapshot)), bytes.Clone(snapshot)
	var other benchWorld[U]
	var d xxhash.Digest
	copying := func() { copy(buf, snapshot) }
	hashing := func() { xxhash.Sum64(snapshot) }
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	compare(b, "Append", "x/copy", copying, func() { buf = c.Append(buf[:0], w) })
	compare(b, "Copy", "x/copy", copying, func() { c.Copy(&other, w) })
	compare(b, "Decode", "x/copy", copying, func() { check(c.Decode(snapshot, &other)) })
	compare(b, "Validate", "x/copy", copying, func() { check(c.Schema().Validate(snapshot)) })
	compare(b, "Diff", "x/copy", copying, func() {
		_, err := c.Schema().Diff(snapshot, same, 1)
		check(err)
	})
	compare(b, "WriteSection", "x/xxhash", hashing, func() {
		for i := range c.Schema().NumSections() {
			d.Reset()
			c.WriteSection(&d, i, w)
		}
	})
}

// compare runs f and reference in turns and reports the median of the ratio of their times.
func compare(b *testing.B, name, unit string, reference, f func()) {
	b.Run(name, func(b *testing.B) {
		reference()
		f()
		var ratios []float64
		for b.Loop() {
			start := time.Now()
			reference()
			middle := time.Now()
			f()
			ratios = append(ratios, float64(time.Since(middle))/float64(max(1, middle.Sub(start))))
		}
		slices.Sort(ratios)
		b.ReportMetric(0, "ns/op") // of both together
		b.ReportMetric(ratios[len(ratios)/2], unit)
	})
}

package state

import (
	"testing"

	"github.com/cespare/xxhash/v2"
)

// Three ways to lay out the same unit: without padding, with it, and with a slice inside.

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

func newPaddedWorld() *benchWorld[paddedUnit] {
	return newBenchWorld(func(u *paddedUnit, i int) { u.ID, u.HP, u.Alive = uint32(i), 100, true })
}

func newSlicedWorld() *benchWorld[slicedUnit] {
	return newBenchWorld(func(u *slicedUnit, i int) { u.ID, u.HP, u.Orders = uint32(i), 100, make([]uint32, 4) })
}

func BenchmarkFlat(b *testing.B)   { benchmark(b, newFlatWorld()) }
func BenchmarkPadded(b *testing.B) { benchmark(b, newPaddedWorld()) }
func BenchmarkSliced(b *testing.B) { benchmark(b, newSlicedWorld()) }

// benchmark measures every way through a codec, beside xxhash and copy over the same bytes.
func benchmark[U any](b *testing.B, w *benchWorld[U]) {
	c := MustCompile[benchWorld[U]]()
	snapshot := c.Append(nil, w)
	buf := make([]byte, len(snapshot))
	var other benchWorld[U]
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(snapshot)))
			f()
			for b.Loop() {
				f()
			}
		})
	}
	run("copy", func() { copy(buf, snapshot) })
	run("xxhash", func() { xxhash.Sum64(snapshot) })
	run("Append", func() { buf = c.Append(buf[:0], w) })
	run("Copy", func() { c.Copy(&other, w) })
	run("Decode", func() {
		if err := c.Decode(snapshot, &other); err != nil {
			b.Fatal(err)
		}
	})
	run("WriteSection", func() {
		var d xxhash.Digest
		for i := range c.Schema().NumSections() {
			d.Reset()
			c.WriteSection(&d, i, w)
		}
	})
	run("Validate", func() {
		if err := c.Schema().Validate(snapshot); err != nil {
			b.Fatal(err)
		}
	})
	run("Diff", func() {
		if d, err := c.Schema().Diff(snapshot, buf, 1); err != nil || d.Total != 0 {
			b.Fatal(d, err)
		}
	})
}

package state

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

type printUnit struct {
	ID    uint32
	HP    int16
	Alive bool // a gap follows
	Pos   [2]int64
}

type printWorld struct {
	Tick  uint32
	Flat  []uint8
	Units []printUnit
	Name  string
	Deep  [][]uint16
	Wide  []struct{ A [3000]printUnit }
	Only  [3]bool
	Full  [2 * PrintBlock]uint8 // whole blocks
}

func randomPrintWorld(r *rand.Rand) *printWorld {
	w := &printWorld{Tick: r.Uint32(), Name: string(make([]byte, r.IntN(20_000))), Flat: make([]uint8, r.IntN(40_000)), Units: make([]printUnit, r.IntN(2000))}
	for i := range w.Flat {
		w.Flat[i] = uint8(r.Uint32())
	}
	for i := range w.Units {
		w.Units[i] = printUnit{r.Uint32(), int16(r.Uint32()), r.Uint32()%2 == 0, [2]int64{r.Int64(), -r.Int64()}}
	}
	for range r.IntN(50) {
		w.Deep = append(w.Deep, make([]uint16, r.IntN(500)))
	}
	if r.IntN(3) == 0 {
		w.Wide = make([]struct{ A [3000]printUnit }, 1)
	}
	return w
}

// The prints of a value are those of its canonical bytes, with both engines, whatever its parts are and wherever blocks end.
func TestPrints(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s, places, err := compile(reflect.TypeFor[printWorld]())
	if err != nil {
		t.Fatal(err)
	}
	c := MustCompile[printWorld]()
	portable := &portableEngine{s, places}
	blocks := 0
	for range 40 {
		w := randomPrintWorld(r)
		b := c.Append(nil, w)
		want, err := c.Schema().AppendPrints(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		got, size := c.AppendPrints(nil, w)
		if !slices.Equal(got, want) || size != len(b) {
			t.Fatalf("got %x of %d bytes, want %x of %d", got, size, want, len(b))
		}
		if got, size := portable.appendPrints(nil, reflect.ValueOf(w).Elem()); !slices.Equal(got, want) || size != len(b) {
			t.Fatalf("portable: got %x of %d bytes, want %x of %d", got, size, want, len(b))
		}
		blocks += len(b) / PrintBlock
	}
	if blocks < 200 {
		t.Errorf("reached %d blocks", blocks)
	}
}

// Every byte counts, and so does the place of a block.
func TestPrintsDiffer(t *testing.T) {
	b := make([]byte, 3*PrintBlock+5)
	for i := range b {
		b[i] = byte(i * i * i >> 7)
	}
	seen := map[uint64]bool{printOf(b): true}
	for i := range b {
		b[i]++
		seen[printOf(b)] = true
		b[i]--
	}
	for n := range 100 {
		seen[printOf(b[:len(b)-1-n])] = true
	}
	swapped := slices.Concat(b[PrintBlock:2*PrintBlock], b[:PrintBlock], b[2*PrintBlock:])
	seen[printOf(swapped)] = true
	if want := 1 + len(b) + 100 + 1; len(seen) != want {
		t.Errorf("got %d prints, want %d", len(seen), want)
	}
}

// The values are the same on every machine, and for ever.
func TestPrintsAreFixed(t *testing.T) {
	b := make([]byte, 20_000)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	var got []string
	for _, n := range []int{1, 3, 8, 16, 17, 128, 129, 240, 241, 1024, PrintBlock, PrintBlock + 1, 20_000} {
		got = append(got, fmt.Sprintf("%d %016x %016x", n, xxh3.Hash(b[:n]), printOf(b[:n])))
	}
	want := []string{
		"1 c44bdff4074eecdb 49e78422b96605d5",
		"3 c3489259e968ad9e 0c471a00671ddff6",
		"8 b88dee77f6bf6980 c8edb1863b201606",
		"16 9da23836adf2be1e ae5c5ee701f07e91",
		"17 f34c3c9cf5a112d1 f2094ac8b8b48ded",
		"128 65f3c2c00fa93185 05dd1ded8d926604",
		"129 28065c6ec25f5b25 fbad13c02e0775c9",
		"240 4917a75c0ef8eed7 fd045c9e7c45e73d",
		"241 541b19226f0052e8 bdae8e78ef91a370",
		"1024 71bee625238addb4 cb515377449e0cb3",
		"8192 6c3c33c8adf8d207 55ec43e7afc6dd74",
		"8193 a91db62f11d0b6b5 8a8d34bc20c661eb",
		"20000 d5ae2a172888000b f02b7d217577032d",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", got)
	}
}

// Computing prints again allocates nothing.
func TestPrintsAllocateNothing(t *testing.T) {
	w := randomPrintWorld(rand.New(rand.NewPCG(3, 4)))
	c := MustCompile[printWorld]()
	prints, _ := c.AppendPrints(nil, w)
	if n := testing.AllocsPerRun(10, func() { prints, _ = c.AppendPrints(prints[:0], w) }); n > 0 && !portable {
		t.Errorf("got %v allocations", n)
	}
}

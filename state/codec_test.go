package state

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"
)

type vec struct{ X, Y ratio }

type unit struct {
	ID    uint32
	Pos   vec
	Turn  angle
	Alive bool
	Name  string
	Path  []vec
}

type world struct {
	Tick    uint32
	Units   []unit
	Scores  [3]int16
	Flags   [2]struct{ On, Off bool }
	Fog     []uint8
	Winner  int8
	Message string
	index   map[uint32]int `state:"derived"`
}

func newWorld() *world {
	return &world{
		Tick: 7,
		Units: []unit{
			{ID: 1, Pos: vec{25 << 31, -1 << 32}, Turn: 1 << 31, Alive: true, Name: "a\"b", Path: []vec{{1 << 32, 2 << 32}}},
			{ID: 2, Pos: vec{1, -1}},
		},
		Scores: [3]int16{1, -2, 3}, Flags: [2]struct{ On, Off bool }{{On: true}, {Off: true}},
		Fog: []uint8{0, 1, 255}, Winner: -1, Message: "gg",
	}
}

// goldenWorld are the canonical bytes of newWorld. They never change: replays are made of such bytes.
const goldenWorld = "07000000" + // Tick
	"02000000" + // Units
	"01000000" + "000000800c000000" + "00000000ffffffff" + "00000080" + "01" + "03000000" + "612262" +
	"01000000" + "0000000001000000" + "0000000002000000" +
	"02000000" + "0100000000000000" + "ffffffffffffffff" + "00000000" + "00" + "00000000" + "00000000" +
	"0100feff0300" + // Scores
	"01000001" + // Flags
	"03000000" + "0001ff" + // Fog
	"ff" + // Winner
	"02000000" + "6767" // Message

// goldenSchema is the fingerprint of world's schema.
const goldenSchema = 0xc386f474e3f09062

func TestGoldenBytes(t *testing.T) {
	c := MustCompile[world]()
	w := newWorld()
	b := c.Append(nil, w)
	if got := hex.EncodeToString(b); got != goldenWorld {
		t.Errorf("canonical bytes: %s, want %s", got, goldenWorld)
	}
	if got := c.Schema().Fingerprint(); got != goldenSchema {
		t.Errorf("fingerprint: %#x, want %#x", got, uint64(goldenSchema))
	}
	var v world
	if err := c.Decode(b, &v); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w.Units[0], v.Units[0]); diff != "" || v.Message != w.Message || v.Scores != w.Scores {
		t.Errorf("decoded: %+v, want %+v\nunit 0 (-want +got):\n%s", v, *w, diff)
	}
}

func TestExtremes(t *testing.T) {
	type extremes struct {
		I8  [2]int8
		I16 [2]int16
		I32 [2]int32
		I64 [2]int64
		U8  uint8
		U16 uint16
		U32 uint32
		U64 uint64
		S   string
		B   []byte
	}
	v := extremes{
		[2]int8{math.MinInt8, math.MaxInt8}, [2]int16{math.MinInt16, math.MaxInt16}, [2]int32{math.MinInt32, math.MaxInt32},
		[2]int64{math.MinInt64, math.MaxInt64}, math.MaxUint8, math.MaxUint16, math.MaxUint32, math.MaxUint64,
		"\x00\xff" + strings.Repeat("long", 5000), bytes.Repeat([]byte{7}, 70_000),
	}
	c := MustCompile[extremes]()
	b := c.Append(nil, &v)
	if want := naive(reflect.ValueOf(v)); !bytes.Equal(b, want) {
		t.Errorf("canonical bytes: %x, want %x", b[:60], want[:60])
	}
	var got extremes
	if err := c.Decode(b, &got); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(v, got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	parts, err := c.Schema().Split(nil, b)
	if err != nil {
		t.Error(err)
	}
	for i, part := range parts {
		d := xxhash.New()
		if n := c.WriteSection(d, i, &v); n != len(part) || d.Sum64() != xxhash.Sum64(part) {
			t.Errorf("section %d: %d bytes, sum %x, want %d, %x", i, n, d.Sum64(), len(part), xxhash.Sum64(part))
		}
	}
}

func TestEmptyRoot(t *testing.T) {
	c := MustCompile[struct{}]()
	var v struct{}
	if b := c.Append(nil, &v); len(b) != 0 || c.Decode(nil, &v) != nil || c.Decode([]byte{0}, &v) == nil {
		t.Errorf("an empty struct has the bytes %x, want none", b)
	}
}

func TestDecodeLeavesValueOnError(t *testing.T) {
	c := MustCompile[world]()
	b := c.Append(nil, newWorld())
	v := newWorld()
	v.Tick = 99
	before := c.Append(nil, v)
	if err := c.Decode(b[:len(b)-1], v); err == nil {
		t.Fatal("cut bytes are accepted")
	}
	if !bytes.Equal(c.Append(nil, v), before) {
		t.Error("a failed Decode changed the value")
	}
}

// TestMovedElements removes a unit as games do: its copy after the end shares the path of a living unit.
func TestMovedElements(t *testing.T) {
	c := MustCompile[world]()
	path := func(n ratio) []vec { return []vec{{n, n}, {n, n}} }
	src := &world{Units: []unit{{Path: path(1)}, {Path: path(2)}, {Path: path(3)}}}
	for name, restore := range map[string]func(dst *world) error{
		"Copy":   func(dst *world) error { c.Copy(dst, src); return nil },
		"Decode": func(dst *world) error { return c.Decode(c.Append(nil, src), dst) },
	} {
		dst := &world{Units: []unit{{Path: path(4)}, {Path: path(5)}, {Path: path(6)}}}
		dst.Units[0] = dst.Units[2]
		dst.Units = dst.Units[:2]
		if err := restore(dst); err != nil {
			t.Fatal(err)
		}
		dst.Units[2].Path[0].X = 33
		if got := dst.Units[0].Path[0].X; got != 1 {
			t.Errorf("%s: unit 0 goes to %d after a change to unit 2, want 1", name, got)
		}
	}
}

// TestCopyOntoAssignment forks a state by assignment, a common mistake: dst has all of src's memory.
func TestCopyOntoAssignment(t *testing.T) {
	c := MustCompile[world]()
	src := newWorld()
	dst := *src
	c.Copy(&dst, src)
	dst.Units[0].ID, dst.Units[0].Path[0].X, dst.Fog[0] = 50, 51, 52
	if got := c.Append(nil, src); hex.EncodeToString(got) != goldenWorld {
		t.Error("a change to the copy changed the source")
	}
	c.Copy(src, src)
	if got := c.Append(nil, src); hex.EncodeToString(got) != goldenWorld {
		t.Error("a copy onto itself changed the source")
	}
}

// TestDecodeOwnBytes decodes bytes that lie in the value itself.
func TestDecodeOwnBytes(t *testing.T) {
	type save struct {
		Head [20]byte
		Blob []byte
	}
	c := MustCompile[save]()
	want := save{Head: [20]byte{1, 2, 3}, Blob: []byte("0123456789")}
	b := c.Append(nil, &want)
	v := save{Blob: slices.Clone(b)}
	if err := c.Decode(v.Blob, &v); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("from its own slice (-want +got):\n%s", diff)
	}
	var all [13]uint8
	copy(all[:], "abcdefghijklm")
	type whole struct{ All [13]uint8 }
	e := MustCompile[whole]()
	x := whole{all}
	if err := e.Decode(x.All[:], &x); err != nil || x.All != all {
		t.Errorf("from its own array: %q, want %q, error %v", x.All, all, err)
	}
}

// TestSteadyStateAllocatesNothing covers flat and padded units, and units with slices in them.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	testAllocs(t, newFlatWorld())
	testAllocs(t, newGappedWorld())
	testAllocs(t, newPaddedWorld())
	testAllocs(t, newSlicedWorld())
	testAllocs(t, newWorld())
}

func testAllocs[T any](t *testing.T, w *T) {
	if portable {
		t.Skip("the portable engine allocates")
	}
	c := MustCompile[T]()
	buf := c.Append(nil, w)
	snapshot := slices.Clone(buf)
	var other T
	var d xxhash.Digest
	for name, f := range map[string]func(){
		"Append": func() { buf = c.Append(buf[:0], w) },
		"Copy":   func() { c.Copy(&other, w) },
		"Decode": func() {
			if err := c.Decode(snapshot, &other); err != nil {
				t.Fatal(err)
			}
		},
		"WriteSection": func() {
			for i := range c.Schema().NumSections() {
				d.Reset()
				c.WriteSection(&d, i, w)
			}
		},
		"Validate": func() {
			if err := c.Schema().Validate(snapshot); err != nil {
				t.Fatal(err)
			}
		},
	} {
		if allocs := testing.AllocsPerRun(5, f); allocs != 0 {
			t.Errorf("%s of %T: %v allocations, want 0", name, *w, allocs)
		}
	}
}

// TestGrowingPathsSettle copies a state whose inner slices grow past their room: one piece of new memory, then none.
func TestGrowingPathsSettle(t *testing.T) {
	if portable {
		t.Skip("the portable engine allocates")
	}
	c := MustCompile[world]()
	src := &world{Units: make([]unit, 1000)}
	for i := range src.Units {
		src.Units[i].Path = make([]vec, 4)
	}
	var dst world
	c.Copy(&dst, src)
	src.Units[500].Path = make([]vec, 9)
	src.Units[501].Path = make([]vec, 2000)
	c.Copy(&dst, src)
	c.Copy(&dst, src)
	if allocs := testing.AllocsPerRun(5, func() { c.Copy(&dst, src) }); allocs != 0 {
		t.Errorf("%v allocations in the third copy, want 0", allocs)
	}
	if first := testing.AllocsPerRun(1, func() { var fresh world; c.Copy(&fresh, src) }); first > 8 {
		t.Errorf("%v allocations for a copy of 1,000 paths into a fresh value, want a few pieces", first)
	}
}

// TestCollector moves values with pointers about while the garbage collector runs.
func TestCollector(t *testing.T) {
	c := MustCompile[world]()
	src := newWorld()
	want := c.Append(nil, src)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	defer close(stop)
	var dst world
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	for i := range rounds {
		if i%3 == 0 {
			dst = world{Units: make([]unit, i%7)}
		}
		var err error
		if i%2 == 0 {
			c.Copy(&dst, src)
		} else {
			err = c.Decode(want, &dst)
		}
		garbage := make([][]byte, 20)
		for j := range garbage {
			garbage[j] = bytes.Repeat([]byte{0xAA}, 64)
		}
		if got := c.Append(nil, &dst); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("round %d: %x, want %x, error %v", i, got, want, err)
		}
		runtime.KeepAlive(garbage)
	}
}

// TestManySlices has more slices in its type than can keep their memory, so that some always get new memory.
func TestManySlices(t *testing.T) {
	type eight struct{ A, B, C, D, E, F, G, H []uint16 }
	type many struct {
		A, B, C, D, E, F, G, H eight
		List                   []eight
		Array                  [3]eight
	}
	c := MustCompile[many]()
	r := rand.New(rand.NewPCG(1, 9))
	var src, dst many
	for range 5 {
		fill(r, reflect.ValueOf(&src).Elem())
		want := naive(reflect.ValueOf(src))
		dst.Array[2].H, dst.H.G = dst.A.A, dst.C.B
		c.Copy(&dst, &src)
		if got := c.Append(nil, &dst); !bytes.Equal(got, want) {
			t.Fatal("a copy is not equal")
		}
		fill(r, reflect.ValueOf(&dst).Elem())
		if err := c.Decode(want, &dst); err != nil || !bytes.Equal(c.Append(nil, &dst), want) {
			t.Fatalf("what was decoded is not equal, error %v", err)
		}
		if overlapping(append(extents(reflect.ValueOf(&dst).Elem(), nil), extents(reflect.ValueOf(&src).Elem(), nil)...)) {
			t.Fatal("two slices share memory")
		}
	}
}

// TestNestedArrays compiles arrays of arrays of arrays: the work must not multiply with each of them.
func TestNestedArrays(t *testing.T) {
	type cell struct {
		A uint8
		B uint16
	}
	type deep struct {
		Cells [2][2][2][2][2][2][2][2][2][2][2][2][2][2][2][2]cell
	}
	c := MustCompile[deep]()
	var v, got deep
	v.Cells[1][0][1][0][1][0][1][0][1][0][1][0][1][0][1][0] = cell{1, 2}
	b := c.Append(nil, &v)
	if err := c.Decode(b, &got); err != nil || got != v || len(b) != 3<<16 {
		t.Errorf("%d bytes come back otherwise, error %v", len(b), err)
	}
}

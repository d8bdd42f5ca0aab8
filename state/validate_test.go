package state

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func goldenBytes(t testing.TB) []byte {
	b, err := hex.DecodeString(goldenWorld)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMalformed(t *testing.T) {
	c := MustCompile[world]()
	golden := goldenBytes(t)
	for _, test := range []struct {
		name   string
		damage func(b []byte) []byte
		path   string
		offset int
		err    error
	}{
		{"nothing", func(b []byte) []byte { return nil }, "Tick", 0, io.ErrUnexpectedEOF},
		{"cut in a count", func(b []byte) []byte { return b[:6] }, "Units", 4, io.ErrUnexpectedEOF},
		{"cut in an element", func(b []byte) []byte { return b[:64] }, "Units", 4, io.ErrUnexpectedEOF},
		{"cut in an element's slice", func(b []byte) []byte { return b[:81] }, "Units[1].Turn", 80, io.ErrUnexpectedEOF},
		{"cut in an array", func(b []byte) []byte { return b[:98] }, "Scores[2]", 97, io.ErrUnexpectedEOF},
		{"cut at the end", func(b []byte) []byte { return b[:len(b)-1] }, "Message", 111, io.ErrUnexpectedEOF},
		{"trailing", func(b []byte) []byte { return append(b, 0) }, "", len(golden), ErrTrailing},
		{"bool of 2", func(b []byte) []byte { b[32] = 2; return b }, "Units[0].Alive", 32, ErrBool},
		{"bool of 255 in an array", func(b []byte) []byte { b[102] = 255; return b }, "Flags[1].Off", 102, ErrBool},
		{"count of 2^32-1", func(b []byte) []byte { copy(b[4:], "\xff\xff\xff\xff"); return b }, "Units", 4, io.ErrUnexpectedEOF},
		{"inner count of 2^32-1", func(b []byte) []byte { copy(b[40:], "\xff\xff\xff\xff"); return b }, "Units[0].Path", 40, io.ErrUnexpectedEOF},
		{"length of 2^31", func(b []byte) []byte { copy(b[33:], "\x00\x00\x00\x80"); return b }, "Units[0].Name", 33, io.ErrUnexpectedEOF},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := test.damage(bytes.Clone(golden))
			var v world
			err := c.Decode(b, &v)
			var bad *DecodeError
			if !errors.As(err, &bad) || !errors.Is(err, test.err) {
				t.Fatalf("error %v, want a *DecodeError with %v", err, test.err)
			}
			if bad.Path != test.path || bad.Offset != test.offset {
				t.Errorf("at %q, byte %d, want %q, byte %d (%v)", bad.Path, bad.Offset, test.path, test.offset, err)
			}
			if !strings.Contains(err.Error(), test.path) {
				t.Errorf("error %q does not name %q", err, test.path)
			}
		})
	}
}

// TestEveryCut and TestEveryFlip damage bytes with every single cut and every single inverted bit.
func TestEveryCut(t *testing.T) {
	c := MustCompile[world]()
	golden := goldenBytes(t)
	for n := range golden {
		var v world
		if err := c.Decode(golden[:n:n], &v); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the first %d bytes: error %v, want %v", n, err, io.ErrUnexpectedEOF)
		}
	}
}

func TestEveryFlip(t *testing.T) {
	c := MustCompile[world]()
	golden := goldenBytes(t)
	accepted := 0
	for bit := range 8 * len(golden) {
		b := bytes.Clone(golden)
		b[bit/8] ^= 1 << (bit % 8)
		var v world
		if err := c.Decode(b, &v); err != nil {
			continue
		}
		accepted++
		if !bytes.Equal(c.Append(nil, &v), b) {
			t.Errorf("bit %d flipped: accepted, and written back as other bytes", bit)
		}
		if d, err := c.Schema().Diff(golden, b, 1); err != nil || d.Total == 0 {
			t.Errorf("bit %d flipped: no difference, error %v", bit, err)
		}
	}
	if accepted == 0 {
		t.Error("no flipped bit was accepted, want those of integers")
	}
}

// TestHostileCounts decodes counts without enough bytes for them. It allocates at most a few kilobytes.
func TestHostileCounts(t *testing.T) {
	type nested struct{ A [][][]uint64 }
	c := MustCompile[nested]()
	for _, b := range [][]byte{
		[]byte("\xff\xff\xff\xff"),
		[]byte("\xff\xff\xff\x7f\x00\x00\x00\x00"),
		append([]byte("\x00\x10\x00\x00"), bytes.Repeat([]byte{0xff}, 4*4096)...),
		append([]byte("\x01\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\x1f"), make([]byte, 64)...),
	} {
		size := uint64(math.MaxUint64)
		for range 5 { // the least of them: the runtime allocates, too
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var v nested
			err := c.Decode(b, &v)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%x…: error %v, want %v", b[:4], err, io.ErrUnexpectedEOF)
			}
			size = min(size, after.TotalAlloc-before.TotalAlloc)
		}
		if size > 4096 {
			t.Errorf("%x…: %d bytes allocated for %d bytes", b[:4], size, len(b))
		}
	}
}

// TestManyBools covers the bools that are found by walking instead of by a list of offsets.
func TestManyBools(t *testing.T) {
	type many struct {
		Grid  [5][7]struct{ A, B bool }
		Large struct {
			A [10]bool
			B uint16
			C [10]bool
		}
		Rows  [][40]bool
		Mixed []struct {
			Name  string
			Walls [20]bool
		}
	}
	c := MustCompile[many]()
	v := many{Rows: make([][40]bool, 2)}
	v.Mixed = make([]struct {
		Name  string
		Walls [20]bool
	}, 2)
	golden := c.Append(nil, &v)
	values, err := c.Schema().Leaves(golden)
	if err != nil {
		t.Fatal(err)
	}
	bools := 0
	for leaf := range values {
		if leaf.Node.Kind() != Bool {
			continue
		}
		bools++
		b := bytes.Clone(golden)
		b[leaf.Offset] = 2
		var bad *DecodeError
		if err := c.Schema().Validate(b); !errors.As(err, &bad) || bad.Path != leaf.Path || bad.Offset != leaf.Offset {
			t.Errorf("2 in %s at byte %d: error %v", leaf.Path, leaf.Offset, err)
		}
	}
	if want := 70 + 20 + 80 + 40; bools != want {
		t.Errorf("%d bools, want %d", bools, want)
	}
}

// TestDeepErrorIsQuick validates bytes that are wrong at the deepest place of a schema as deep as it may be. A check
// that looked closer at every level would make the error 2^15 times.
func TestDeepErrorIsQuick(t *testing.T) {
	list := []describedNode{{Kind: Struct, Count: 1}}
	levels := (MaxDepth - 2) / 2
	var b []byte
	for range levels {
		list = append(list, describedNode{Kind: Slice, Name: "S"}, describedNode{Kind: Struct, Count: 1})
		b = append(b, 1, 0, 0, 0)
	}
	list = append(list, describedNode{Kind: Bool, Name: "B"})
	s, err := newSchema(list)
	if err != nil {
		t.Fatal(err)
	}
	b[4*levels-4] = 0
	b[4*levels-3] = 16 // 4,096 elements in the innermost slice
	b = append(b, make([]byte, 4096)...)
	if err := s.Validate(b); err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] = 2
	got := testing.AllocsPerRun(1, func() {
		if err := s.Validate(b); !errors.Is(err, ErrBool) {
			t.Fatal(err)
		}
	})
	if got > 1000 { // one error takes 34
		t.Errorf("an error takes %.0f allocations, want those of one error", got)
	}
}

// TestMemoryBound decodes long valid bytes into fresh values, and compares the allocated bytes with their length.
func TestMemoryBound(t *testing.T) {
	type tiny struct {
		ID    uint8
		Cache [7]int64 `state:"derived"`
	}
	testMemory(t, 2, struct{ A []flatUnit }{make([]flatUnit, 1000)})
	testMemory(t, 16, struct{ A [][]uint8 }{slices.Repeat([][]uint8{{1}}, 10_000)})
	testMemory(t, 16, struct{ A [][][]uint8 }{slices.Repeat([][][]uint8{{{}}}, 10_000)})
	testMemory(t, 16, struct{ A []string }{slices.Repeat([]string{"x"}, 10_000)})
	testMemory(t, maxGrowth+8, struct{ A []tiny }{make([]tiny, 10_000)})
	testMemory(t, maxGrowth+8, struct{ A [][]tiny }{slices.Repeat([][]tiny{{{}}}, 10_000)})
}

func testMemory[T any](t *testing.T, limit int, v T) {
	c := MustCompile[T]()
	b := c.Append(nil, &v)
	var fresh T
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := c.Decode(b, &fresh)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if size := after.TotalAlloc - before.TotalAlloc; size > uint64(limit*len(b)+1024) {
		t.Errorf("%T: %d bytes allocated for %d, want at most %d times as many", v, size, len(b), limit)
	} else {
		t.Logf("%T: %.1f bytes allocated for each", v, float64(size)/float64(len(b)))
	}
}

package checksum

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/state"
)

type unit struct {
	ID    uint32
	Pos   [2]int64
	Alive bool
	Name  string
}

type world struct {
	Tick  uint32
	Units []unit
	Fog   []uint8
	Red   uint16
	Blue  uint16
}

var codec = state.MustCompile[world]()

func newWorld() *world {
	return &world{Tick: 7, Units: []unit{{1, [2]int64{-1, 1 << 40}, true, "a"}, {2, [2]int64{}, false, ""}}, Fog: []uint8{0, 1, 2}, Red: 3, Blue: 4}
}

// naiveSum computes the sum from canonical bytes that stand here, cut into sections by hand.
func naiveSum(sections ...string) Sum {
	var s Sum
	hash := []byte("samestep root 1\n")
	for _, section := range sections {
		sum := xxhash.Sum64String(section)
		hash = binary.LittleEndian.AppendUint64(hash, uint64(len(section)))
		hash = binary.LittleEndian.AppendUint64(hash, sum)
		s.Sections = append(s.Sections, sum)
	}
	s.Hash = xxhash.Sum64(hash)
	return s
}

func TestGoldenSum(t *testing.T) {
	units := "\x02\x00\x00\x00" +
		"\x01\x00\x00\x00" + "\xff\xff\xff\xff\xff\xff\xff\xff" + "\x00\x00\x00\x00\x00\x01\x00\x00" + "\x01" + "\x01\x00\x00\x00a" +
		"\x02\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00" + "\x00\x00\x00\x00"
	want := naiveSum("\x07\x00\x00\x00", units, "\x03\x00\x00\x00\x00\x01\x02", "\x03\x00", "\x04\x00")
	var got Sum
	Of(&got, codec, newWorld())
	if got.Hash != want.Hash || !slices.Equal(got.Sections, want.Sections) {
		t.Errorf("sum of the value: %x, want %x", got, want)
	}
	if err := OfBytes(&got, codec.Schema(), codec.Append(nil, newWorld())); err != nil || got.Hash != want.Hash || !slices.Equal(got.Sections, want.Sections) {
		t.Errorf("sum of the bytes: %x, error %v, want %x", got, err, want)
	}
	const golden = "2c9ac64634686ae6" // the same on every machine, for ever
	if text := FormatHash(got.Hash); text != golden {
		t.Errorf("hash: %s, want %s", text, golden)
	}
	if hash := HashOf([]int{4, len(units), 7, 2, 2}, got.Sections); hash != want.Hash {
		t.Errorf("hash of the sections: %x, want %x", hash, want.Hash)
	}
	clone := got.Clone()
	got.Sections[0]++
	if clone.Sections[0] == got.Sections[0] {
		t.Error("a clone shares memory")
	}
}

func TestOfBytesRefuses(t *testing.T) {
	b := codec.Append(nil, newWorld())
	sum := Sum{Hash: 1, Sections: []uint64{2}}
	if err := OfBytes(&sum, codec.Schema(), b[:len(b)-1]); !errors.As(err, new(*state.DecodeError)) {
		t.Errorf("cut bytes: error %v, want a *state.DecodeError", err)
	}
	if sum.Hash != 1 || sum.Sections[0] != 2 {
		t.Errorf("cut bytes changed the sum to %x", sum)
	}
}

// TestEveryLeafCounts damages each leaf of a state by one bit: the hash changes, and the section of that leaf alone.
func TestEveryLeafCounts(t *testing.T) {
	schema := codec.Schema()
	b := codec.Append(nil, newWorld())
	var want Sum
	if err := OfBytes(&want, schema, b); err != nil {
		t.Fatal(err)
	}
	leaves, err := schema.Leaves(b)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for leaf := range leaves {
		other := bytes.Clone(b)
		damaged, err := schema.Lookup(other, leaf.Path)
		if err != nil {
			t.Fatal(err)
		}
		if !damaged.Flip() {
			continue // an empty string
		}
		n++
		var got Sum
		if err := OfBytes(&got, schema, other); err != nil {
			t.Fatal(err)
		}
		m, equal := Compare(want, got, schema)
		if equal || got.Hash == want.Hash {
			t.Errorf("%s: no mismatch", leaf.Path)
			continue
		}
		for i := range want.Sections {
			if same := want.Sections[i] == got.Sections[i]; same == (i == m.Section) {
				t.Errorf("%s: section %d is the same: %v, the mismatch is in %s", leaf.Path, i, same, m.Name)
			}
		}
	}
	if n < 12 {
		t.Errorf("%d leaves were damaged, want 12 or more", n)
	}
}

// TestExchangedSections exchanges two sections, which a sum mixed by XOR or addition would not notice.
func TestExchangedSections(t *testing.T) {
	w := newWorld()
	var a, b Sum
	Of(&a, codec, w)
	w.Red, w.Blue = w.Blue, w.Red
	Of(&b, codec, w)
	if a.Hash == b.Hash {
		t.Error("two sections changed places and the hash did not change")
	}
	if xorOf(a) != xorOf(b) {
		t.Error("the control fails: XOR does see that two sections changed places")
	}
}

func xorOf(s Sum) (x uint64) {
	for _, section := range s.Sections {
		x ^= section
	}
	return x
}

// TestHiddenField is a negative control: a sum does not cover a derived field. So only restoring a state catches a game
// whose rules read one.
func TestHiddenField(t *testing.T) {
	type lie struct {
		Gold   uint32
		Income uint32 `state:"derived"`
	}
	c := state.MustCompile[lie]()
	live := &lie{Gold: 1, Income: 1}
	restored := &lie{}
	if err := c.Decode(c.Append(nil, live), restored); err != nil {
		t.Fatal(err)
	}
	var a, b Sum
	for round := range 2 {
		Of(&a, c, live)
		Of(&b, c, restored)
		if _, equal := Compare(a, b, c.Schema()); equal != (round == 0) {
			t.Errorf("after %d steps: equal is %v", round, equal)
		}
		live.Gold += live.Income
		restored.Gold += restored.Income
	}
}

func TestAllocatesNothing(t *testing.T) {
	w := newWorld()
	b := codec.Append(nil, w)
	var sum Sum
	Of(&sum, codec, w)
	var other world
	if testing.AllocsPerRun(5, func() { codec.Copy(&other, w) }) != 0 {
		t.Skip("this build has the portable engine, which allocates")
	}
	if allocs := testing.AllocsPerRun(5, func() { Of(&sum, codec, w) }); allocs != 0 {
		t.Errorf("Of: %v allocations, want 0", allocs)
	}
	if allocs := testing.AllocsPerRun(5, func() {
		if err := OfBytes(&sum, codec.Schema(), b); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("OfBytes: %v allocations, want 0", allocs)
	}
}

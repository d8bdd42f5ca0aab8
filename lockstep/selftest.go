package lockstep

import (
	"fmt"
	"math/bits"

	"github.com/cespare/xxhash/v2"
	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/state"
)

// A SelfTest has the results of small computations. A machine whose compiler, virtual machine or processor gives another result would
// compute another match, so it is rejected before the match. docs/spec/state.md lists the engine's results.
type SelfTest struct {
	Integers  uint64 // arithmetic of sized integers, with wrapping and truncation
	Layout    uint64 // canonical bytes of a state, written and read
	Checksums uint64 // of bytes of many lengths, and of a state
	Records   uint64 // of a log, written and read
	Game      uint64 // Rules.SelfTest, 0 if there is none
}

// The results of the engine's part. They change only with the formats.
var knownSelfTest = SelfTest{
	Integers:  0x523497c62e457d30,
	Layout:    0xe23a4bde19110887,
	Checksums: 0xd30e9ebf3a0cb12f,
	Records:   0x18067e689573a40f,
}

// KnownSelfTest returns the results of the engine's part on every machine that computes as it should.
func KnownSelfTest() SelfTest { return knownSelfTest }

// A selfTestError reports a machine that does not compute as others do.
type selfTestError struct {
	Part      string // "integers", "layout", "checksums" or "records"
	Got, Want uint64
}

func (e *selfTestError) Error() string {
	return fmt.Sprintf("lockstep: self-test of %s: got %s, want %s: this machine would compute another match",
		e.Part, checksum.FormatHash(e.Got), checksum.FormatHash(e.Want))
}

// Parts returns the results with their names, in their order on the wire.
func (t *SelfTest) Parts() [5]SelfTestPart {
	return [...]SelfTestPart{
		{"integers", &t.Integers}, {"layout", &t.Layout}, {"checksums", &t.Checksums}, {"records", &t.Records}, {"game", &t.Game},
	}
}

// A SelfTestPart is one result of a [SelfTest].
type SelfTestPart struct {
	Name string
	Sum  *uint64 // in the SelfTest
}

// Check returns an error, which names the part, if a result of the engine's part is wrong.
func (t SelfTest) Check() error {
	known := knownSelfTest
	known.Game = t.Game // only the game knows its result
	want := known.Parts()
	for i, p := range t.Parts() {
		if *p.Sum != *want[i].Sum {
			return &selfTestError{p.Name, *p.Sum, *want[i].Sum}
		}
	}
	return nil
}

func testSelf(game func() uint64) (t SelfTest, err error) {
	t = SelfTest{Integers: testIntegers(), Layout: testLayout(), Checksums: testChecksums(), Records: testRecords()}
	if game != nil {
		defer func() {
			if v := recover(); v != nil {
				err = panicked(0, "SelfTest", v)
			}
		}()
		t.Game = game()
	}
	return t, nil
}

// A fold is a hash of a sequence of numbers. It is not xxHash64, which is itself tested.
type fold uint64

func (f *fold) add(v uint64) { *f = (*f ^ fold(v)) * 0x9e3779b97f4a7c15; *f ^= *f >> 29 }

func (f *fold) bytes(b []byte) {
	f.add(uint64(len(b)))
	for _, c := range b {
		f.add(uint64(c))
	}
}

var operands = [...]uint64{
	0, 1, 2, 3, 7, 10, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
	0x1fffffffffffff, 0x20000000000001, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffffe, 0xffffffffffffffff, 0x9e3779b97f4a7c15,
}

func testIntegers() uint64 {
	f := fold(1)
	for _, a := range operands {
		for _, b := range operands {
			hi, lo := bits.Mul64(a, b)
			sum, carry := bits.Add64(a, b, a&1)
			f.add(hi)
			f.add(lo)
			f.add(sum ^ carry)
			f.add(a - b)
			f.add(a << (b & 127)) // also by more than 63
			f.add(uint64(int64(a) >> (b & 127)))
			f.add(uint64(int32(a) * int32(b)))
			f.add(uint64(int16(a)) + uint64(uint8(b)))
			f.add(uint64(bits.LeadingZeros64(a)<<8 | bits.TrailingZeros64(b)))
			if b != 0 {
				f.add(a / b)
				f.add(a % b)
				f.add(uint64(int64(a) / int64(b))) // towards zero; the smallest by -1 wraps
				f.add(uint64(int64(a) % int64(b)))
			}
			if int64(a) < int64(b) {
				f.add(uint64(int8(a)))
			}
		}
	}
	return uint64(f)
}

// selfState has a field of each kind, and gaps in memory.
type selfState struct {
	Flag  bool
	Tiny  int8
	Wide  uint64
	Units []selfUnit
	Name  string
	Table [3]int16
	Empty []uint32
}

type selfUnit struct {
	X, Y  int64
	Kind  uint8
	Alive bool
	Owner uint16
	Seen  []uint32
}

func knownState() *selfState {
	s := &selfState{Flag: true, Tiny: -3, Wide: 0x0123456789abcdef, Name: "samestep \xff", Table: [3]int16{-1, 0, 0x1234}}
	for i := range 5 {
		s.Units = append(s.Units, selfUnit{
			X: int64(i) << 40, Y: -int64(i) * 12345678901, Kind: uint8(200 + i), Alive: i%2 == 0, Owner: uint16(i) << 12, Seen: make([]uint32, i),
		})
	}
	return s
}

func testLayout() uint64 {
	f := fold(2)
	codec := state.MustCompile[selfState]()
	b := codec.Append(nil, knownState())
	f.bytes(b)
	var again selfState
	if err := codec.Decode(b, &again); err != nil {
		return 0
	}
	f.add(uint64(again.Units[3].Y) + uint64(again.Tiny))
	f.bytes(codec.Append(nil, &again))
	f.add(codec.Schema().Fingerprint())
	return uint64(f)
}

func testChecksums() uint64 {
	f := fold(3)
	var b []byte
	for i := range 100 {
		//samestep:allow unseen xxHash64 is the same function in assembly and in Go
		f.add(xxhash.Sum64(b))
		b = append(b, byte(i*i))
	}
	codec := state.MustCompile[selfState]()
	var sum, again checksum.Sum
	s := knownState()
	checksum.Of(&sum, codec, s)
	if checksum.OfBytes(&again, codec.Schema(), codec.Append(nil, s)) != nil || again.Hash != sum.Hash {
		return 0
	}
	f.add(sum.Hash)
	for _, v := range sum.Sections {
		f.add(v)
	}
	return uint64(f)
}

func testRecords() uint64 {
	f := fold(4)
	if !record.SelfTestRecords(f.bytes) {
		return 0
	}
	return uint64(f)
}

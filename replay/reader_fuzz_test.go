package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// seal makes a file of any bodies with valid checksums, so that the fuzzer and the tests get past the checks.
func seal(kind byte, bodies ...[]byte) []byte {
	file := appendPrefix(nil, lockstep.MatchID{})
	chain := xxhash.Sum64(file)
	for _, body := range bodies {
		block := append(appendBlockHeader(nil, kind, len(body)), body...)
		chain = checkBlock(chain, block)
		file = binary.LittleEndian.AppendUint64(append(file, block...), chain)
	}
	return file
}

func readAll(t *testing.T, file []byte) (records int, err error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	for err == nil {
		if _, err = r.Next(); err == nil {
			records++
		}
	}
	var damage *DamageError
	if err != io.EOF && !errors.As(err, &damage) {
		t.Fatalf("got error %T: %v", err, err)
	}
	return records, err
}

// For any file and any batches, a Reader ends with io.EOF or a DamageError.
func FuzzReader(f *testing.F) {
	var enc record.Encoder
	h := heapHeader()
	body := bytes.Clone(enc.Header(h))
	body = append(body, enc.Keyframe(0, 1, nil, heapState(1))...)
	body = append(body, enc.Frame(&lockstep.Frame{Tick: 1, Commands: []lockstep.Command{{Tick: 1, Player: 1, Sequence: 1, Kind: 1}}})...)
	body = append(body, enc.Empty(3)...)
	body = append(body, enc.Checksum(4, 5)...)
	body = append(body, enc.Mismatch(4, 1, 6)...)
	body = append(body, enc.Note(1, "name", "x")...)
	body = append(body, enc.End("over")...)
	f.Add(body, byte(blockBatch))
	f.Add(seal(blockBatch, body), byte(0))
	f.Add(sealBody(nil, body, 0, 4, LevelBest), byte(blockSegment))
	f.Add(body, byte(blockSegment+1))
	f.Add(appendIndex(nil, []mark{{0, prefixSize, 5}, {9, 100, 0}}, 32), byte(blockIndex))
	f.Fuzz(func(t *testing.T, b []byte, kind byte) {
		switch kind {
		case blockBatch, blockSegment, blockIndex:
			b = seal(kind, b)
		case blockSegment + 1: // with a valid head and sum
			b = seal(blockSegment, sealBody(nil, b, 0, 0, LevelBetter))
		}
		readAll(t, b)
		if r, err := NewReader(bytes.NewReader(b), int64(len(b))); err == nil {
			r.Seek(7)
			for err == nil {
				_, err = r.Next()
			}
		}
	})
}

// Every accepted head of a block, head of a segment, and index is written back the same: none has two forms.
func FuzzHeads(f *testing.F) {
	f.Add(appendBlockHeader(nil, blockBatch, 300))
	f.Add((&segmentHead{3, 40, 500, 6}).append(nil))
	f.Add(appendIndex(nil, []mark{{0, prefixSize, 5}, {9, 100, 0}}, 500))
	f.Fuzz(func(t *testing.T, b []byte) {
		if kind, size, n, err := parseBlockHeader(b); err == nil && !bytes.Equal(appendBlockHeader(nil, kind, int(size)), b[:n]) {
			t.Errorf("block: kind %d, %d bytes, in %x", kind, size, b[:n])
		}
		if h, packed, err := parseSegmentHead(b); err == nil && !bytes.Equal(append(h.append(nil), packed...), b) {
			t.Errorf("segment: %+v in %x", h, b)
		}
		if marks, err := parseIndex(b, 500); err == nil {
			if again := appendIndex(nil, marks, 500); !bytes.Equal(again, b) {
				t.Errorf("index: %v in %x", marks, b)
			}
		}
	})
}

func TestHostileBlocks(t *testing.T) {
	prefix := appendPrefix(nil, lockstep.MatchID{})
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"length of 2^32-1", append(bytes.Clone(prefix), 1, 0xff, 0xff, 0xff, 0xff, 0x0f), io.ErrUnexpectedEOF},
		{"length of 2^35-1", append(bytes.Clone(prefix), 1, 0xff, 0xff, 0xff, 0xff, 0x7f), io.ErrUnexpectedEOF},
		{"length without end", append(bytes.Clone(prefix), 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), ErrCorrupt},
		{"length not in its smallest form", append(bytes.Clone(prefix), 1, 0x81, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0), ErrCorrupt},
		{"unknown critical block", seal(3, []byte{1}), ErrUnsupported},
		{"empty batch", seal(blockBatch, nil), ErrInvalid},
		{"a million empty batches", seal(blockBatch, make([][]byte, 1e6)...), ErrInvalid},
		{"a million empty optional blocks", seal(99, make([][]byte, 1e6)...), io.ErrUnexpectedEOF},
		{"unknown optional block", seal(99, []byte{1}), io.ErrUnexpectedEOF},
		{"nested arrays", seal(blockBatch, bytes.Repeat([]byte{0x91}, 1_500_000)), ErrCorrupt},
		{"array of 2^32-1", seal(blockBatch, []byte{0xdd, 0xff, 0xff, 0xff, 0xff}), ErrLimit},
		{"record without values", seal(blockBatch, []byte{0x90}), ErrCorrupt},
		{"header with a name of 2^32-1 bytes", seal(blockBatch, []byte{0x9c, 1, 1, 0xdb, 0xff, 0xff, 0xff, 0xff}), ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n, err := readAll(t, c.file)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > uint64(2*len(c.file))+64<<10 {
				t.Errorf("a file of %d bytes cost %d bytes of memory", len(c.file), used)
			}
			if n != 0 || !errors.Is(err, c.want) {
				t.Errorf("got %d records and %v, want %v", n, err, c.want)
			}
		})
	}
}

// After a valid header, too, a record costs no more memory than the file has bytes.
func TestHostileRecords(t *testing.T) {
	var enc record.Encoder
	h := heapHeader()
	header := bytes.Clone(enc.Header(h))
	keyframe := bytes.Clone(enc.Keyframe(0, 1, nil, heapState(1)))
	for _, c := range []struct {
		name   string
		bytes  []byte
		before []byte
		want   error
	}{
		{"keyframe of 2^32-1 bytes", []byte{0x95, 2, 0, 0, 0x90, 0xc6, 0xff, 0xff, 0xff, 0xff}, header, ErrLimit},
		{"frame of 2^32-1 values", []byte{0xdd, 0xff, 0xff, 0xff, 0xff, 3}, append(bytes.Clone(header), keyframe...), ErrLimit},
		{"payload of 2^32-1 bytes", []byte{0x95, 3, 0, 1, 1, 0xc6, 0xff, 0xff, 0xff, 0xff}, append(bytes.Clone(header), keyframe...), ErrLimit},
		{"run of 2^32-1 ticks", []byte{0x92, 4, 0xce, 0xff, 0xff, 0xff, 0xff}, append(bytes.Clone(header), keyframe...), ErrCorrupt},
		{"run of no ticks", []byte{0x92, 4, 0}, append(bytes.Clone(header), keyframe...), ErrCorrupt},
		{"end of 2^32-1 bytes", []byte{0x92, 7, 0xdb, 0xff, 0xff, 0xff, 0xff}, append(bytes.Clone(header), keyframe...), ErrLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, _ := readAll(t, seal(blockBatch, c.before))
			file := seal(blockBatch, append(bytes.Clone(c.before), c.bytes...))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n, err := readAll(t, file)
			runtime.ReadMemStats(&after)
			if n != want || !errors.Is(err, c.want) {
				t.Errorf("got %d records and %v, want %d and %v", n, err, want, c.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<10 {
				t.Errorf("a file of %d bytes cost %d bytes of memory", len(file), used)
			}
		})
	}
}

// The end of damage is found for every damaged field and block size.
func TestDamageOfLargeBlock(t *testing.T) {
	var enc record.Encoder
	first := bytes.Clone(enc.Header(heapHeader()))
	large := bytes.Clone(enc.Keyframe(0, 1, nil, heapState(3<<20)))
	small, last := bytes.Clone(enc.Empty(7)), enc.End("over")
	file := seal(blockBatch, first, large, small, last)
	begin, next := int64(len(seal(blockBatch, first))), int64(len(seal(blockBatch, first, large)))
	for _, c := range []struct {
		name     string
		at, next int64
	}{
		{"kind", begin, next},
		{"length", begin + 2, next},
		{"body", begin + 100_000, next},
		// Without its check, the next block cannot be recognized as valid.
		{"check", next - 1, int64(len(seal(blockBatch, first, large, small)))},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := bytes.Clone(file)
			broken[c.at] ^= 0x40
			n, err := readAll(t, broken)
			var damage *DamageError
			if n != 1 || !errors.As(err, &damage) || !errors.Is(err, ErrCorrupt) || damage.Offset != begin || damage.Next != c.next {
				t.Errorf("got %d records and %v, want 1 and the next block at %d", n, err, c.next)
			}
		})
	}
}

// countingReader counts the bytes that are read.
type countingReader struct {
	bytes.Reader
	read int64
}

func (c *countingReader) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(p, at)
	c.read += int64(n)
	return n, err
}

// In a file that claims a long block every few bytes, the search for a valid block takes time linear in the file's
// size, not quadratic.
func TestSearchIsLinear(t *testing.T) {
	for _, pattern := range []string{"\x01\xff\xff\x03\x92", "\x01\xff\x1f\x92", "\x01\xff\x03\x92", "\x01\x01\x01\x01", "\x02\x00\x00\x01"} {
		for _, size := range []int{1000, 30_000, 1_000_000} {
			file := append(appendPrefix(nil, lockstep.MatchID{}), bytes.Repeat([]byte(pattern), size/len(pattern))...)
			c := &countingReader{Reader: *bytes.NewReader(file)}
			r, err := NewReader(c, int64(len(file)))
			if err == nil {
				_, err = r.Next()
			}
			var damage *DamageError
			if !errors.As(err, &damage) {
				t.Errorf("%q: got %v", pattern, err)
			}
			if limit := int64(2*searchAlways) + 64*int64(len(file)); c.read > limit {
				t.Errorf("%q: %d bytes were read of a file of %d, want at most %d", pattern, c.read, len(file), limit)
			}
		}
	}
}

// The claims of a segment cost no more memory and time than its bytes allow.
func TestHostileSegments(t *testing.T) {
	body := func(size uint64, packed []byte) []byte {
		return append((&segmentHead{0, 0, size, 0}).append(nil), packed...)
	}
	zeros := make([]byte, 32<<20)
	bomb := compressors[LevelBetter]().EncodeAll(zeros, nil)
	sum := xxhash.Sum64(zeros[:maxRatio*len(bomb)])
	long := append((&segmentHead{0, 0, uint64(maxRatio * len(bomb)), sum}).append(nil), bomb...)
	for _, c := range []struct {
		name string
		file []byte
		want error
	}{
		{"nothing", seal(blockSegment, nil), ErrCorrupt},
		{"no bytes of records", seal(blockSegment, body(0, bomb)), ErrCorrupt},
		{"2^62 bytes of records", seal(blockSegment, body(1<<62, bomb)), ErrLimit},
		{"more than a segment may hold", seal(blockSegment, body(maxBlock+lockstep.MaxStateSize+1, bomb)), ErrLimit},
		{"8 MiB in 10 bytes", seal(blockSegment, body(maxBlock, bomb[:10])), ErrLimit},
		{"a bomb that tells its size", seal(blockSegment, body(uint64(len(zeros)), bomb)), ErrLimit},
		{"a bomb that lies about its size", seal(blockSegment, body(1000, bomb)), ErrCorrupt},
		{"a bomb cut to what is allowed", seal(blockSegment, long), ErrCorrupt},
		{"not compressed", seal(blockSegment, body(100, make([]byte, 100))), ErrCorrupt},
		{"wrong sum", seal(blockSegment, body(7, compressors[LevelBetter]().EncodeAll(make([]byte, 7), nil))), ErrCorrupt},
		{"a tick that overflows", seal(blockSegment, append((&segmentHead{1, 1<<32 - 1, 9, 0}).append(nil), bomb...)), ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n, err := readAll(t, c.file)
			runtime.ReadMemStats(&after)
			if n != 0 || !errors.Is(err, c.want) {
				t.Errorf("got %d records and %v, want %v", n, err, c.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > uint64(maxRatio*len(c.file))+1<<20 {
				t.Errorf("a file of %d bytes cost %d bytes of memory", len(c.file), used)
			}
		})
	}
}

// An invalid index is ignored.
func TestHostileIndex(t *testing.T) {
	good := appendIndex(nil, []mark{{0, 32, 5}, {9, 100, 0}}, 500)
	if marks, err := parseIndex(good, 500); err != nil || len(marks) != 2 || marks[1] != (mark{9, 100, 0}) {
		t.Fatal(marks, err)
	}
	for name, b := range map[string][]byte{
		"nothing": {}, "no marks": {0}, "2^60 marks": binary.AppendUvarint(nil, 1<<60), "cut": good[:len(good)-9], "more": append(bytes.Clone(good[:len(good)-8]), 0),
		"before the first block": {1, 0, 31, 5}, "at the index": {1, 0, 0xf4, 3, 5}, "after the index": {1, 0, 0xf5, 3, 5},
		"twice a tick":     {2, 0, 32, 5, 0, 68, 0},
		"a tick overflows": append([]byte{2, 1, 32, 5}, append(binary.AppendUvarint(nil, 1<<32-1), 1, 0)...),
		"not the smallest": {1, 0x80, 0, 32, 5},
	} {
		if marks, err := parseIndex(binary.LittleEndian.AppendUint64(b, 500), 500); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, %v", name, marks, err)
		}
	}
}

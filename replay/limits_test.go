package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/checksum"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A sparse file has a head and then zeros up to its size.
type sparse struct{ head []byte }

func (s sparse) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	if at < int64(len(s.head)) {
		copy(p, s.head[at:])
	}
	return len(p), nil
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The claims of a block cost no memory, even if the file is long enough for them.
func TestSparseFile(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   byte
		length uint64
		want   error
	}{
		{"batch of 3 GiB", blockBatch, 3 << 30, ErrLimit},
		{"segment of 3 GiB", blockSegment, 3 << 30, ErrLimit},
		{"batch of the largest state, with a wrong check", blockBatch, lockstep.MaxStateSize, ErrCorrupt},
		{"batch of one byte more than the largest", blockBatch, maxBlock + lockstep.MaxStateSize + 1, ErrLimit},
		{"index of 9 MiB", blockIndex, 9 << 20, ErrLimit},
		{"unknown block of 19 GiB", 99, 19 << 30, ErrLimit},
		{"unknown block of the largest length", 99, 1<<35 - 1, io.ErrUnexpectedEOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			head := binary.AppendUvarint(append(appendPrefix(nil, lockstep.MatchID{}), c.kind), c.length)
			var err error
			used := allocated(func() {
				var r *Reader
				if r, err = NewReader(sparse{head}, 20<<30); err == nil {
					_, err = r.Next()
				}
			})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if used > 1<<20 {
				t.Errorf("it cost %d bytes of memory", used)
			}
		})
	}
}

// A bag is a state of any size.
type bag struct{ Bytes []uint8 }

// bagGame returns the game of bags, which has no rules.
var bagGame = sync.OnceValue(func() *lockstep.Game {
	return lockstep.MustGame(lockstep.Rules[bag, struct{}]{
		Name: "bag", Build: "1",
		New:  func(*bag, *lockstep.Settings, *struct{}) error { return nil },
		Step: func(*bag, *struct{}, *lockstep.Turn) {},
	})
})

// bagHeader returns the header of a match whose state is a bag.
var bagHeader = sync.OnceValue(func() *lockstep.Header {
	h, err := bagGame().NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &struct{}{})
	if err != nil {
		panic(err)
	}
	return h
})

// bagOf returns the canonical bytes of a bag.
func bagOf(content []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(content))), content...)
}

// hashOfBag returns the hash of a bag.
func hashOfBag(content []byte) uint64 {
	var sum checksum.Sum
	if err := checksum.OfBytes(&sum, bagGame().StateSchema(), bagOf(content)); err != nil {
		panic(err) // it is canonical
	}
	return sum.Hash
}

// logOf returns the records of a match with a bag of size bytes, followed by the records that more appends.
func logOf(size int, more func(e *record.Encoder, add func([]byte))) [][]byte {
	var e record.Encoder
	var log [][]byte
	add := func(b []byte) { log = append(log, bytes.Clone(b)) }
	add(e.Header(bagHeader()))
	content := noise(1, size)
	add(e.Keyframe(0, hashOfBag(content), nil, bagOf(content)))
	more(&e, add)
	add(e.End(""))
	return log
}

// segmentOf returns the body of the first segment of a log.
func segmentOf(records []byte, ticks uint32) []byte {
	h := segmentHead{0, ticks, uint64(len(records)), xxhash.Sum64(records)}
	return compressors[LevelBetter]().EncodeAll(records, h.append(nil))
}

// A block may be as large as the state in it, and no larger.
func TestLargeBlocks(t *testing.T) {
	notes := func(n int) func(*record.Encoder, func([]byte)) {
		return func(e *record.Encoder, add func([]byte)) {
			for i := range n / 1024 {
				add(e.Note(0, "chat", string(noise(uint64(i), 500))+"."))
			}
		}
	}
	for _, c := range []struct {
		name  string
		state int
		notes int
		want  error
	}{
		{"as large as a block can be without a state", 100, maxBlock - 8<<10, io.EOF},
		{"larger, without a state", 100, 2 * maxBlock, ErrLimit},
		{"with a large state", 3 * maxBlock, 1 << 20, io.EOF},
		{"with a large state, and more than a block besides", 3 * maxBlock, 2 * maxBlock, ErrLimit},
	} {
		records := bytes.Join(logOf(c.state, notes(c.notes)), nil)
		for kind, file := range map[string][]byte{"batch": seal(blockBatch, records), "segment": seal(blockSegment, segmentOf(records, 0))} {
			if n, err := readAll(t, file); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: got %d records and %v, want %v", kind, c.name, n, err, c.want)
			}
		}
	}
}

// noise returns n bytes of ASCII that do not compress well.
func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		seed = seed*6364136223846793005 + 1442695040888963407
		b[i] = byte('0' + seed>>58)
	}
	return b
}

// A Writer keeps the limits of a Reader.
func TestWriterKeepsLimits(t *testing.T) {
	write := func(log [][]byte, o WriterOptions) ([]byte, error) {
		var file bytes.Buffer
		w := NewWriter(&file, o)
		for _, record := range log {
			if err := w.Append(record); err != nil {
				return nil, err
			}
		}
		err := w.Close()
		return file.Bytes(), err
	}
	// Each log is made when its turn comes: memory is scarce on js/wasm.
	for name, logged := range map[string]func() [][]byte{
		"states that compress too well": func() [][]byte {
			states := 40
			if testenv.Small(t) {
				states = 12
			}
			return logOf(2<<20, func(e *record.Encoder, add func([]byte)) {
				for i := range states { // of 2 MiB without a bit set
					add(e.Empty(1))
					add(e.Keyframe(lockstep.Tick(i+1), 1, nil, bagOf(make([]byte, 2<<20))))
				}
			})
		},
		"too many keyframes": func() [][]byte {
			return logOf(1, func(e *record.Encoder, add func([]byte)) {
				for i := range lockstep.Tick(maxKeyframes + 10) {
					add(e.Empty(1))
					add(e.Keyframe(i+1, 1, nil, bagOf(nil)))
				}
			})
		},
		"large states": func() [][]byte {
			return logOf(maxBlock+1<<20, func(e *record.Encoder, add func([]byte)) {
				for range 50 {
					add(e.Note(0, "chat", string(noise(1, 1000))))
				}
				add(e.Keyframe(0, 1, nil, bagOf(noise(2, 2*maxBlock))))
			})
		},
		"notes that compress well": func() [][]byte {
			return logOf(1, func(e *record.Encoder, add func([]byte)) {
				for i := range uint64(10) {
					add(e.Empty(1))
					addNotes(e, add, i)
				}
			})
		},
	} {
		log, lengths := logged(), []uint32{0, 1, 1000}
		if testenv.Small(t) {
			lengths = []uint32{0, 1000}
		}
		for _, ticks := range lengths {
			file, err := write(log, WriterOptions{SegmentTicks: ticks, Level: LevelBetter})
			if err == nil {
				_, err = readAll(t, file)
			}
			if err != io.EOF {
				t.Errorf("%s, segments of %d ticks: %v", name, ticks, err)
			}
		}
	}
	long := append(logOf(1, func(*record.Encoder, func([]byte)) {})[:2], append([]byte{0x92, 100, 0xc6, 0, 0x80, 0, 0}, make([]byte, 8<<20)...))
	if _, err := write(long, WriterOptions{}); !errors.Is(err, ErrLimit) {
		t.Errorf("a record of 8 MiB: got %v, want %v", err, ErrLimit)
	}
}

// Records after the last tick of a match cost no memory, since their number is not limited.
func TestContentAfterLastTick(t *testing.T) {
	file := seal(blockBatch, bytes.Join(logOf(1, func(e *record.Encoder, add func([]byte)) {
		for range 100_000 {
			add(e.Checksum(0, 1))
		}
	}), nil))
	used := allocated(func() {
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err == nil {
			_, _, err = HashContent(r, WholeMatch)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if used > uint64(len(file))+64<<10 {
		t.Errorf("a file of %d bytes cost %d bytes of memory", len(file), used)
	}
}

// A few bytes can claim any number of ticks. A long idle match is verified if the caller allows its length.
func TestTicksOfSmallFile(t *testing.T) {
	g, records := bagGame(), logOf(1, func(e *record.Encoder, add func([]byte)) {
		for range 5 {
			add(e.Empty(record.MaxEmptyRun))
		}
	})
	file := seal(blockBatch, bytes.Join(records, nil))
	for limit, want := range map[lockstep.Tick]error{0: ErrLimit, 5*record.MaxEmptyRun - 1: ErrLimit, 5 * record.MaxEmptyRun: nil} {
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(r, g, VerifyOptions{MaxTicks: limit}); !errors.Is(err, want) || (want == nil) != v.Ended {
			t.Errorf("at most %d ticks: got %+v and %v, want %v", limit, v, err, want)
		}
	}
	for size, want := range map[int64]lockstep.Tick{0: ticksFree, 1000: ticksFree + 64000, 1 << 40: DefaultMaxTicks} {
		if got := maxTicks(0, size); got != want {
			t.Errorf("a file of %d bytes: got %d ticks, want %d", size, got, want)
		}
	}
}

// A Reader rejects segments that a Writer does not write.
func TestReaderLimits(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"too many keyframes": {seal(blockBatch, bytes.Join(logOf(1, func(e *record.Encoder, add func([]byte)) {
			for range maxKeyframes {
				add(e.Keyframe(0, 1, nil, bagOf(nil)))
			}
		}), nil)), ErrLimit},
		"a large record": {seal(blockBatch, append(bytes.Join(logOf(1, func(*record.Encoder, func([]byte)) {})[:2], nil),
			append([]byte{0x92, 100, 0xc6, 0, 0x71, 0, 0}, make([]byte, 0x710000)...)...)), ErrLimit},
		"segments that are not too much together": {sealedNotes(4), io.EOF},
		"segments that are too much together":     {sealedNotes(6), ErrLimit},
		"segments with many states":               {sealedStates(20), io.EOF},
	} {
		if n, err := readAll(t, c.file); !errors.Is(err, c.want) {
			t.Errorf("%s: got %d records and %v, want %v", name, n, err, c.want)
		}
	}
}

// sealedNotes returns a file with segments that have almost maxBlock of notes each.
func sealedNotes(segments int) []byte {
	return sealedLog(logOf(1, func(e *record.Encoder, add func([]byte)) {
		for i := range segments {
			var records []byte
			addNotes(e, func(b []byte) { records = append(records, b...) }, uint64(i))
			add(records)
		}
	}))
}

// addNotes adds almost maxBlock of notes. They hold enough noise to stay below maxRatio.
func addNotes(e *record.Encoder, add func([]byte), seed uint64) {
	for i := range uint64(8000) {
		text := strings.Repeat("x", 1000)
		if i%700 == 0 {
			text = string(noise(seed<<16+i, 1000))
		}
		add(e.Note(0, "chat", text))
	}
}

// sealedStates returns a file whose segments have a keyframe each and compress almost as well as maxRatio allows.
// Writers sealed such states before that limit existed.
func sealedStates(segments int) []byte {
	state := bagOf(make([]byte, 4<<20))
	copy(state[1<<10:], noise(1, 6<<10))
	return sealedLog(logOf(1, func(e *record.Encoder, add func([]byte)) {
		for i := range lockstep.Tick(segments) {
			add(e.Keyframe(0, uint64(i), nil, state))
		}
	}))
}

// sealedLog returns a file with a segment for each part of a log.
func sealedLog(log [][]byte) []byte {
	var bodies [][]byte
	for _, records := range log {
		bodies = append(bodies, segmentOf(records, 0))
	}
	return seal(blockSegment, bodies...)
}

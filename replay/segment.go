package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-49bee653/samestep/lockstep"
)

const (
	// maxSegment is how many bytes of records a segment holds at the most. It
	// bounds what a reader needs in memory for a hostile file. Larger records
	// stay in a batch.
	maxSegment = 64 << 20

	// A segment may be so many times larger than its compressed bytes, after
	// the first ratioFree bytes. It bounds the time that a small hostile file
	// takes. Writers leave what compresses better in a batch.
	maxRatio  = 1000
	ratioFree = 64 << 10
)

// A segmentHead is what stands before the compressed bytes of a segment.
type segmentHead struct {
	first lockstep.Tick // the stream's tick before it
	ticks uint32        // in it
	size  uint64        // of its records
	sum   uint64        // xxHash64 of its records
}

func (h *segmentHead) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(h.first))
	dst = binary.AppendUvarint(dst, uint64(h.ticks))
	dst = binary.AppendUvarint(dst, h.size)
	return binary.LittleEndian.AppendUint64(dst, h.sum)
}

// parseSegmentHead returns the head of a segment's body and the compressed
// bytes after it.
func parseSegmentHead(body []byte) (h segmentHead, packed []byte, err error) {
	first, body, err := parseUvarint(body, math.MaxUint32)
	if err != nil {
		return h, nil, err
	}
	ticks, body, err := parseUvarint(body, math.MaxUint32-first)
	if err != nil {
		return h, nil, err
	}
	size, body, err := parseUvarint(body, maxSegment)
	if err != nil {
		return h, nil, err
	}
	if len(body) < 8 || size == 0 {
		return h, nil, errors.New("head of a segment")
	}
	h = segmentHead{lockstep.Tick(first), uint32(ticks), size, binary.LittleEndian.Uint64(body)}
	if packed = body[8:]; !fits(size, len(packed)) {
		return h, nil, fmt.Errorf("%w: a segment of %d bytes in %d", ErrLimit, size, len(packed))
	}
	return h, packed, nil
}

// fits reports whether so many compressed bytes may stand for a segment's size.
func fits(size uint64, packed int) bool {
	return size <= maxSegment && size <= ratioFree+maxRatio*uint64(packed)
}

// parseUvarint reads a number of at most max in its smallest form.
func parseUvarint(b []byte, max uint64) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 || v > max {
		return 0, nil, fmt.Errorf("got number %d in %d bytes, want at most %d", v, n, max)
	}
	return v, b[n:], nil
}

// unpack returns a segment's records in dst, which it enlarges to no more than
// the head says.
func (h *segmentHead) unpack(dst, packed []byte) ([]byte, error) {
	if uint64(cap(dst)) < h.size {
		dst = make([]byte, 0, h.size)
	}
	records, err := decompressor().DecodeAll(packed, dst[:0:h.size])
	if err != nil {
		return nil, err
	}
	if uint64(len(records)) != h.size {
		return nil, fmt.Errorf("got %d bytes of records, want %d", len(records), h.size)
	}
	if sum := xxhash.Sum64(records); sum != h.sum {
		return nil, fmt.Errorf("got sum %016x of the records, want %016x", sum, h.sum)
	}
	return records, nil
}

// All decoding shares one decoder, which never gives more than the capacity of
// the slice that it decodes into.
var decompressor = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(maxSegment), zstd.WithDecoderMaxWindow(16<<20))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// All encoding at one level shares one encoder, because one takes megabytes.
var compressors [len(levels)]struct {
	once    sync.Once
	encoder *zstd.Encoder
}

var levels = [...]zstd.EncoderLevel{zstd.SpeedBestCompression, zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression}

func compressor(l Level) *zstd.Encoder {
	c := &compressors[l]
	c.once.Do(func() {
		var err error
		c.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(levels[l]), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false), zstd.WithWindowSize(8<<20), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options are constants
		}
	})
	return c.encoder
}

// takeSegment makes the records of a segment's body the ones that are read next.
func (r *Reader) takeSegment(body []byte) error {
	h, packed, err := parseSegmentHead(body)
	if err == nil && r.began && h.first != r.tick {
		return r.damage(fmt.Errorf("%w: a segment after tick %d, want %d", ErrInvalid, h.first, r.tick))
	}
	if err == nil {
		r.unpacked, err = h.unpack(r.unpacked, packed)
	}
	if errors.Is(err, ErrLimit) {
		return r.damage(err)
	}
	if err != nil {
		return r.damage(fmt.Errorf("%w: segment: %w", ErrCorrupt, err))
	}
	r.records, r.body = r.unpacked, r.unpacked
	r.until = h.first + lockstep.Tick(h.ticks)
	r.sealed = true
	return nil
}

// leaveBlock checks, where the records of a block end, that it held the ticks
// that it claims.
func (r *Reader) leaveBlock() error {
	if !r.sealed {
		return nil
	}
	r.sealed = false
	if r.tick != r.until {
		return r.damage(fmt.Errorf("%w: a segment up to tick %d, want %d", ErrInvalid, r.tick, r.until))
	}
	return nil
}

// sealBody returns the body of a segment of records, or nil if they cannot be
// one.
func sealBody(dst, records []byte, first lockstep.Tick, ticks uint32, l Level) []byte {
	if len(records) > maxSegment {
		return nil
	}
	h := segmentHead{first, ticks, uint64(len(records)), xxhash.Sum64(records)}
	dst = h.append(dst)
	head := len(dst)
	dst = compressor(l).EncodeAll(records, dst)
	if !fits(h.size, len(dst)-head) {
		return nil
	}
	return dst
}

// A Level says how hard a Writer tries to make segments small.
type Level uint8

// The levels. All decode equally fast.
const (
	LevelBest    Level = iota // smallest: for files that are kept
	LevelFastest              // for a file that is read once
	LevelDefault
	LevelBetter
)

// Seal copies the rest of what r reads to w, and closes w. It returns the error
// of whichever failed.
func Seal(w *Writer, r *Reader) error {
	for {
		if _, err := r.Next(); err == io.EOF {
			return w.Close()
		} else if err != nil {
			return err
		}
		if err := w.Append(r.Record()); err != nil {
			return err
		}
	}
}

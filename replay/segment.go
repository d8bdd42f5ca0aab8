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

// A segmentHead is the part of a segment before the compressed bytes.
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

// parseSegmentHead returns the head of a segment's body and the compressed bytes after it.
func parseSegmentHead(body []byte) (h segmentHead, packed []byte, err error) {
	first, body, err := parseUvarint(body, math.MaxUint32)
	if err != nil {
		return h, nil, err
	}
	ticks, body, err := parseUvarint(body, math.MaxUint32-first)
	if err != nil {
		return h, nil, err
	}
	size, body, err := parseUvarint(body, math.MaxInt64)
	if err != nil {
		return h, nil, err
	}
	if len(body) < 8 || size == 0 {
		return h, nil, errors.New("head of a segment")
	}
	return segmentHead{lockstep.Tick(first), uint32(ticks), size, binary.LittleEndian.Uint64(body)}, body[8:], nil
}

// largest returns how many bytes of records a number of compressed bytes may have.
func largest(packed int) uint64 { return ratioFree + maxRatio*uint64(packed) }

// affordable returns how many bytes of records all segments of a file of size bytes may have together. The states of
// keyframes do not count: maxRatio limits them, they take little time for each byte, and the states of some games
// compress to less than a hundredth.
func affordable(size int64) int64 { return unpackedFree + maxUnpackedRatio*size }

// parseUvarint reads a number of at most max in its smallest form.
func parseUvarint(b []byte, max uint64) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 || v > max {
		return 0, nil, fmt.Errorf("got number %d in %d bytes, want at most %d", v, n, max)
	}
	return v, b[n:], nil
}

// unpack returns a segment's records in dst, which it enlarges at most to the size in the head.
func (h *segmentHead) unpack(dst, packed []byte) ([]byte, error) {
	if uint64(cap(dst)) < h.size {
		dst = make([]byte, 0, h.size)
	}
	if err := oneFrame(packed); err != nil {
		return nil, err
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

// oneFrame returns an error unless packed is exactly one frame of compressed bytes. A decoder would also read the
// frames after it, and skip some.
func oneFrame(packed []byte) error {
	var h zstd.Header
	if err := h.Decode(packed); err != nil {
		return err
	}
	if h.Skippable {
		return errors.New("a skippable frame")
	}
	at := h.HeaderSize
	for last := false; !last; {
		if len(packed)-at < 3 {
			return io.ErrUnexpectedEOF
		}
		b := uint32(packed[at]) | uint32(packed[at+1])<<8 | uint32(packed[at+2])<<16
		size := int(b >> 3)
		if b>>1&3 == 1 { // one byte that is repeated
			size = 1
		}
		at += 3 + size
		last = b&1 == 1
	}
	if h.HasCheckSum {
		at += 4
	}
	switch {
	case at > len(packed):
		return io.ErrUnexpectedEOF
	case at < len(packed):
		return fmt.Errorf("%d bytes after the compressed frame", len(packed)-at)
	}
	return nil
}

// All decoding shares one decoder, which never returns more than the capacity of the slice that it decodes into.
var decompressor = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(maxBlock+lockstep.MaxStateSize), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// takeSegment makes the records of a segment's body the next ones.
func (r *Reader) takeSegment(body []byte) error {
	h, packed, err := parseSegmentHead(body)
	if err == nil && r.began && h.first != r.tick {
		return r.damage(fmt.Errorf("%w: a segment after tick %d, want %d", ErrInvalid, h.first, r.tick))
	}
	if err == nil {
		err = r.afford(&h, packed)
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
	r.first, r.until = h.first, h.first+lockstep.Tick(h.ticks)
	r.sealed = true
	return nil
}

// leaveBlock checks at the end of a block that it had its claimed ticks, and that the segments so far do not exceed the
// limit of their records.
func (r *Reader) leaveBlock() error {
	if !r.sealed {
		return nil
	}
	r.sealed = false
	if r.tick != r.until {
		return r.damage(fmt.Errorf("%w: a segment up to tick %d, want %d", ErrInvalid, r.tick, r.until))
	}
	if most := affordable(r.size); r.spent > most {
		return r.damage(fmt.Errorf("%w: segments with %d bytes of records besides states in a file of %d, want at most %d", ErrLimit, r.spent, r.size, most))
	}
	return nil
}

// A Level says how well a Writer compresses segments.
type Level uint8

// The levels. All decode equally fast.
const (
	LevelBest    Level = iota // smallest: for files that are kept
	LevelFastest              // for a file that is read once
	LevelDefault
	LevelBetter
)

package replay

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A block of more than maxBlock bytes needs a keyframe with a state that is as large. A hostile file can claim any
// size, and a sparse file has the bytes for it. So such a block is read twice: first in pieces, to compare its check
// and find that state, then as a whole.

// large returns ErrLimit if a block with a body of more than maxBlock bytes has no state of that size. It returns where
// the block ends, if known.
func (r *Reader) large(kind byte, at, header int64, size, before uint64) (end int64, err error) {
	const most = maxBlock + lockstep.MaxStateSize
	if size > most || kind >= firstOptional {
		want := uint64(most)
		if kind >= firstOptional {
			want = maxBlock
		}
		return 0, fmt.Errorf("%w: a block of kind %d with %d bytes, want at most %d", ErrLimit, kind, size, want)
	}
	end = at + header + int64(size) + checkSize
	if err := r.compareCheck(at, end, before); err != nil {
		return end, err
	}
	body := io.NewSectionReader(r.r, at+header, int64(size))
	if kind == blockSegment {
		body.Seek(int64(r.segmentHeadSize(at+header)), io.SeekStart) // it cannot fail
	}
	state, err := r.largestState(kind == blockSegment, body)
	if err == nil && size > maxBlock+state {
		err = fmt.Errorf("%w: a block of %d bytes, want at most %d and the state of a keyframe in it (%d bytes)", ErrLimit, size, maxBlock, state)
	}
	return end, err
}

// compareCheck compares the check of a block with the block's bytes, read in pieces, and the check before it.
func (r *Reader) compareCheck(at, end int64, before uint64) error {
	var d xxhash.Digest
	d.Reset()
	var b [checkSize]byte
	binary.LittleEndian.PutUint64(b[:], before)
	d.Write(b[:])
	if _, err := io.CopyBuffer(&d, io.NewSectionReader(r.r, at, end-checkSize-at), make([]byte, 64<<10)); err != nil {
		return r.unread(at, err)
	}
	if err := r.readAt(b[:], end-checkSize); err != nil {
		return err
	}
	if got, want := binary.LittleEndian.Uint64(b[:]), d.Sum64(); got != want {
		return fmt.Errorf("%w: got check %016x, want %016x", ErrCorrupt, got, want)
	}
	return nil
}

// segmentHeadSize returns the size of the segment's head at an offset.
func (r *Reader) segmentHeadSize(at int64) int {
	var b [3*binary.MaxVarintLen64 + 8]byte
	if r.readAt(b[:], at) != nil {
		return 0
	}
	_, rest, err := parseSegmentHead(b[:])
	if err != nil {
		return 0
	}
	return len(b) - len(rest)
}

// largestState returns the size that a keyframe claims for its state if it does not fit into the first maxBlock bytes
// of records, and 0 if there is none.
func (r *Reader) largestState(packed bool, in io.Reader) (uint64, error) {
	if packed {
		d, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return 0, err
		}
		defer d.Close()
		in = d
	}
	if cap(r.unpacked) < maxBlock {
		r.unpacked = make([]byte, maxBlock)
	}
	b := r.unpacked[:maxBlock]
	n, err := io.ReadFull(in, b)
	if err != nil && err != io.ErrUnexpectedEOF {
		return 0, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	for b = b[:n]; len(b) > 0; {
		size, open := pack.Size(b)
		if size == 0 {
			if _, ok := keyframeTick(b); ok && open <= lockstep.MaxStateSize {
				return open, nil
			}
			return 0, nil
		}
		b = b[size:]
	}
	return 0, nil
}

// stateSize returns the size of the state in a keyframe, and 0 for another record.
func stateSize(record []byte) int {
	if _, ok := keyframeTick(record); !ok {
		return 0
	}
	var p pack.Reader
	p.Reset(record)
	p.Array(5, 5)
	for range 3 { // kind, tick, hash
		p.Uint(math.MaxUint64)
	}
	for range p.Array(0, 2*256) {
		p.Uint(math.MaxUint64)
	}
	return len(p.Binary(lockstep.MaxStateSize))
}

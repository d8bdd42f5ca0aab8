package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
)

// A hostile file can claim a block of any size, and a sparse file has the bytes for it. So a block of more than maxBlock bytes, which
// needs a keyframe with a state as large, is read twice: first in pieces, to compare its check and find that state, then as a whole.

// large returns ErrLimit if a body of more than maxBlock bytes has no state of that size. It returns where the block ends, if known.
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

// largestState returns the size that a keyframe claims for a state that goes beyond the first maxBlock bytes of records, or 0.
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
			if _, _, ok := keyframe(b); ok && open <= lockstep.MaxStateSize {
				return open, nil
			}
			return 0, nil
		}
		b = b[size:]
	}
	return 0, nil
}

func (r *Reader) afford(h *segmentHead, packed []byte) error {
	most := min(largest(len(packed)), maxBlock+lockstep.MaxStateSize)
	if h.size > most {
		return fmt.Errorf("%w: a segment of %d bytes in %d, want at most %d", ErrLimit, h.size, len(packed), most)
	}
	if h.size > maxBlock {
		state, err := r.largestState(true, bytes.NewReader(packed))
		if err != nil {
			return err
		}
		if h.size > maxBlock+state {
			return fmt.Errorf("%w: a segment of %d bytes, want at most %d and the state of a keyframe in it (%d bytes)", ErrLimit, h.size, maxBlock, state)
		}
	}
	return nil
}

// Limits of the search for a valid block after a damaged one, in bytes, and in times the size of the file: any byte may begin a large block.
const (
	maxSearch    = 256 << 20
	searchTimes  = 32
	searchAlways = 64 << 10
)

// classify says whether the file only ends too early at the block at r.start or is damaged inside. The block claims to end at end.
func (r *Reader) classify(err error, end int64) error {
	if errors.Is(err, ErrLimit) {
		return r.damage(err)
	}
	if !errors.Is(err, ErrCorrupt) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	d := r.damage(err)
	r.failed = nil
	if next := r.search(end); next > 0 {
		d.Next, d.NextTick = next, r.tickBefore(next)
		d.Err = fmt.Errorf("%w inside the file", ErrCorrupt)
	}
	if r.failed != nil { // so it is not known what comes after
		return r.failed
	}
	return d
}

// search returns the offset of a valid batch or segment after the damaged block at r.start, or 0. It first looks at the block's claimed end.
func (r *Reader) search(end int64) int64 {
	if ok, _ := r.valid(end); ok {
		return end
	}
	var chunk [16 << 10]byte
	budget := min(maxSearch, searchAlways+searchTimes*r.size)
	for from := r.start + 1 + checkSize; from < r.size && budget > 0; {
		part := chunk[:min(int64(len(chunk)), r.size-from)]
		if r.readAt(part, from) != nil {
			return 0
		}
		budget -= int64(len(part))
		for budget > 0 {
			i := bytes.IndexAny(part, string([]byte{blockBatch, blockSegment}))
			if i < 0 {
				break
			}
			at := from + int64(i)
			ok, cost := r.valid(at)
			if ok {
				return at
			}
			budget -= cost
			from, part = at+1, part[i+1:]
		}
		from += int64(len(part))
	}
	return 0
}

// valid reports whether a batch or segment begins at an offset, and how many bytes it read. The check before it is in the bytes before it.
func (r *Reader) valid(at int64) (ok bool, cost int64) {
	if at < prefixSize+checkSize || at >= r.size || !r.plausible(at) {
		return false, checkSize
	}
	kind, body, _, end, err := r.blockAt(at)
	return err == nil && (kind == blockBatch || kind == blockSegment) && len(body) > 0, max(end-at, checkSize)
}

// tickBefore returns the tick before the valid block at an offset, or 0. A segment names it, and a batch that begins with a keyframe.
func (r *Reader) tickBefore(at int64) lockstep.Tick {
	kind, body, _, _, err := r.blockAt(at)
	if err != nil {
		return 0
	}
	if kind == blockSegment {
		if h, _, err := parseSegmentHead(body); err == nil {
			return h.first
		}
		return 0
	}
	t, _, _ := keyframe(body)
	return t
}

// plausible reports whether the bytes at an offset begin like a batch or a segment. It saves reading most other places.
func (r *Reader) plausible(at int64) bool {
	var b [48]byte
	p := b[:min(int64(len(b)), r.size-at)]
	if r.readAt(p, at) != nil {
		return false
	}
	kind, _, header, err := parseBlockHeader(p)
	if err != nil || header == len(p) {
		return false
	}
	body := p[header:]
	if kind == blockBatch {
		return body[0] > 0x91 && body[0] <= 0x9f || body[0] == 0xdc || body[0] == 0xdd // an array of two values or more
	}
	for range 3 { // the numbers of a segment's head
		_, n := binary.Uvarint(body)
		if n <= 0 {
			return false
		}
		body = body[n:]
	}
	return kind == blockSegment && len(body) > 8 && bytes.HasPrefix(body[8:], []byte(zstdMagic)[:min(len(zstdMagic), len(body)-8)])
}

const zstdMagic = "\x28\xb5\x2f\xfd"

package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxSearch is how many bytes are read in search of a valid block after a
// damaged one.
const maxSearch = 256 << 20

// classify makes the error of the block at r.start, which claims to reach to
// end, into one that says whether the file only ends too early or is damaged
// inside.
func (r *Reader) classify(err error, end int64) error {
	if !errors.Is(err, ErrCorrupt) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	d := r.damage(err)
	if next := r.search(end); next > 0 {
		d.Next = next
		d.Err = fmt.Errorf("%w inside the file", ErrCorrupt)
	}
	return d
}

// search returns the offset of a valid batch after the damaged block at
// r.start, or 0. It looks first where the block claims to end, and then at every
// byte that a batch can begin with.
func (r *Reader) search(end int64) int64 {
	if ok, _ := r.valid(end); ok {
		return end
	}
	var chunk [16 << 10]byte
	budget := int64(maxSearch)
	for from := r.start + 1 + checkSize; from < r.size && budget > 0; {
		part := chunk[:min(int64(len(chunk)), r.size-from)]
		if r.readAt(part, from) != nil {
			return 0
		}
		budget -= int64(len(part))
		for budget > 0 {
			i := bytes.IndexByte(part, blockBatch)
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

// valid reports whether a batch with records begins at an offset, given the
// check that would stand before it, and how many bytes it took to tell.
func (r *Reader) valid(at int64) (ok bool, cost int64) {
	if at < prefixSize+checkSize || at >= r.size {
		return false, 0
	}
	var before [checkSize]byte
	if r.readAt(before[:], at-checkSize) != nil {
		return false, 0
	}
	kind, body, _, end, err := r.readBlock(at, binary.LittleEndian.Uint64(before[:]))
	return err == nil && kind == blockBatch && len(body) > 0, max(end-at, checkSize)
}

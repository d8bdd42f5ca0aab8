package replay

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A mark is a keyframe of the tick of the last frame before it, so that a follower can begin there.
type mark struct {
	tick   lockstep.Tick
	offset int64 // of its block
	at     int   // where it is in the block's records
}

// parseIndex returns the keyframes of an index at an offset.
func parseIndex(body []byte, at int64) ([]mark, error) {
	bad := func(format string, args ...any) ([]mark, error) {
		return nil, fmt.Errorf("%w: index: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	if len(body) < 8 {
		return bad("got %d bytes, want at least 8", len(body))
	}
	b := body[:len(body)-8]
	if self := binary.LittleEndian.Uint64(body[len(b):]); self != uint64(at) {
		return bad("got the offset %d, want its own, %d", self, at)
	}
	n, b, err := parseUvarint(b, maxKeyframes)
	if err != nil || n == 0 || n > uint64(len(b)/3) { // each takes three bytes at least
		return bad("got %d keyframes in %d bytes, want 1 to %d", n, len(b), min(len(b)/3, maxKeyframes))
	}
	marks := make([]mark, 0, n)
	var before mark
	for i := range n {
		var v [3]uint64
		most := [3]uint64{uint64(math.MaxUint32 - before.tick), uint64(at - before.offset), maxBlock + lockstep.MaxStateSize}
		for k := range v {
			if v[k], b, err = parseUvarint(b, most[k]); err != nil {
				return bad("keyframe %d: %v", i, err)
			}
		}
		m := mark{before.tick + lockstep.Tick(v[0]), before.offset + int64(v[1]), int(v[2])}
		if i > 0 && v[0] == 0 || m.offset < prefixSize || m.offset >= at {
			return bad("keyframe %d: got tick %d at byte %d, want a tick after %d and a byte from %d to %d", i, m.tick, m.offset, before.tick, prefixSize, at)
		}
		marks = append(marks, m)
		before = m
	}
	if len(b) > 0 {
		return bad("%d bytes after the last keyframe", len(b))
	}
	return marks, nil
}

// appendIndex appends the body of an index block that will stand at an offset.
func appendIndex(dst []byte, marks []mark, at int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(marks)))
	var before mark
	for _, m := range marks {
		dst = binary.AppendUvarint(dst, uint64(m.tick-before.tick))
		dst = binary.AppendUvarint(dst, uint64(m.offset-before.offset))
		dst = binary.AppendUvarint(dst, uint64(m.at))
		before = m
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(at))
}

package replay

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/seed-49bee653/samestep/lockstep"
)

// takeOptional takes a block without records: an index, a signature, or one of an unknown kind, which it skips.
func (r *Reader) takeOptional(kind byte, body []byte) error {
	var err error
	switch {
	case r.indexed:
		err = fmt.Errorf("%w: a block of kind %d after the index", ErrInvalid, kind)
	case kind == blockIndex:
		err = r.takeIndex(body)
	case kind == blockSignature:
		err = r.takeSignature(body)
	}
	if err != nil {
		return r.damage(err)
	}
	return nil
}

// takeIndex checks an index, and if the Reader has read the whole file, that each entry names a keyframe.
func (r *Reader) takeIndex(body []byte) error {
	if !r.ended {
		return fmt.Errorf("%w: an index before the end record", ErrInvalid)
	}
	r.indexed = true
	marks, err := parseIndex(body, r.start)
	if err != nil || r.partial {
		return err
	}
	for _, m := range marks {
		i := sort.Search(len(r.seekable), func(i int) bool { return r.seekable[i].tick >= m.tick })
		if i == len(r.seekable) || r.seekable[i] != m {
			return fmt.Errorf("%w: index: no keyframe of tick %d at byte %d of the records of the block at byte %d", ErrInvalid, m.tick, m.at, m.offset)
		}
	}
	return nil
}

// meet notes a keyframe where a reader can begin: it is of the tick of the last frame, and the first of that tick.
func (r *Reader) meet(t lockstep.Tick) {
	n := len(r.seekable)
	if r.partial || r.began && t != r.tick || n > 0 && t <= r.seekable[n-1].tick {
		return
	}
	r.seekable = append(r.seekable, mark{t, r.start, len(r.records) - len(r.body) - len(r.last)})
}

// takeSignature checks the form of a signature and keeps it. Only the whole content shows whether it is valid.
func (r *Reader) takeSignature(body []byte) error {
	switch {
	case !r.ended:
		return fmt.Errorf("%w: a signature before the end record", ErrInvalid)
	case len(body) == 0:
		return fmt.Errorf("%w: a signature without a kind", ErrInvalid)
	case len(body) > maxSignature:
		return fmt.Errorf("%w: a signature of %d bytes, want at most %d", ErrLimit, len(body), maxSignature)
	case len(r.signatures) == maxSignatures:
		return fmt.Errorf("%w: more than %d signatures", ErrLimit, maxSignatures)
	case body[0] == signedWith && len(body) != signatureSize:
		return fmt.Errorf("%w: a signature of kind %d with %d bytes, want %d", ErrInvalid, signedWith, len(body), signatureSize)
	}
	s := signature(slices.Clone(body))
	if key := s.key(); key != nil && slices.ContainsFunc(r.signatures, func(o signature) bool { return key.Equal(o.key()) }) {
		return fmt.Errorf("%w: two signatures by the key %x", ErrInvalid, key)
	}
	r.signatures = append(r.signatures, s)
	return nil
}

// A signature is the body of its block: the kind, and for Ed25519 the public key and the signature.
type signature []byte

// key returns the public key, or nil if the kind is unknown.
func (s signature) key() ed25519.PublicKey {
	if s[0] != signedWith {
		return nil
	}
	return ed25519.PublicKey(s[1 : 1+ed25519.PublicKeySize])
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

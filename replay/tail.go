package replay

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"sort"

	"github.com/seed-49bee653/samestep/lockstep"
)

// takeOptional takes a block without records: an index, a signature, rules, or one of an unknown kind, which it skips.
func (r *Reader) takeOptional(kind byte, body []byte) error {
	var err error
	switch {
	case r.indexed:
		err = fmt.Errorf("%w: a block of kind %d after the index", ErrInvalid, kind)
	case kind == blockIndex:
		err = r.takeIndex(body)
	case kind == blockSignature:
		err = r.takeSignature(body)
	case kind == blockRules:
		err = r.takeRules(body)
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
	case (body[0] == signedContent || body[0] == signedRules) && len(body) != signatureSize:
		return fmt.Errorf("%w: a signature of kind %d with %d bytes, want %d", ErrInvalid, body[0], len(body), signatureSize)
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

// The kinds of signatures: Ed25519 of the content, or of the content and the rules.
const (
	signedContent = 1
	signedRules   = 2
)

const signatureSize = 1 + ed25519.PublicKeySize + ed25519.SignatureSize

// key returns the public key, or nil if the kind is unknown.
func (s signature) key() ed25519.PublicKey {
	if s[0] != signedContent && s[0] != signedRules {
		return nil
	}
	return ed25519.PublicKey(s[1 : 1+ed25519.PublicKeySize])
}

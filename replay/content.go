package replay

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// HashContent returns the SHA-256 of a match's content (docs/spec/replay.md) up to a tick or its last one, and that tick. It depends
// neither on the recorder nor on compression, keyframes, notes and events. It covers all up to the tick's frame, but not its checksums,
// so it is the same for longer and torn recordings. With [WholeMatch] the end counts, and the file must be whole. The error is a
// [*TickError] if the match begins after the tick.
func HashContent(r *Reader, tick lockstep.Tick) (Hash, lockstep.Tick, error) {
	first, err := r.Reopen()
	if err != nil {
		return Hash{}, 0, err
	}
	c := newContent()
	for rec, err := range first.All() {
		if err != nil && c.began && c.tick == tick {
			break // torn or damaged after the tick
		}
		if err != nil {
			return Hash{}, c.tick, err
		}
		if rec.Kind == record.KindKeyframe && !c.began && rec.Tick > tick {
			return Hash{}, rec.Tick, missing(first, tick)
		}
		if rec.Kind == record.KindEnd && tick != WholeMatch {
			break
		}
		if rec.Ticks() > 0 && rec.Tick > tick {
			if c.tick < tick { // a run leads beyond it
				c.reach(tick)
			}
			break
		}
		c.add(rec)
	}
	return c.sum(), c.tick, nil
}

// A PartHash is a result of [HashContent].
type PartHash struct {
	Tick        lockstep.Tick `json:"tick"`
	ContentHash Hash          `json:"content_hash"`
}

// WholeMatch makes HashContent hash the whole match.
const WholeMatch lockstep.Tick = math.MaxUint32

type content struct {
	hash  hash.Hash
	buf   []byte
	ahead hash.Hash // also of the records after the last tick; nil if there are none
	tick  lockstep.Tick
	began bool
}

func newContent() *content { return &content{hash: sha256.New()} }

// reach takes a tick. From now on the records before it count.
func (c *content) reach(t lockstep.Tick) {
	if c.ahead != nil {
		c.hash, c.ahead = c.ahead, nil
	}
	c.tick = t
}

// later takes a record after the last tick. It goes to a copy of the hash, since it counts only if another tick follows.
func (c *content) later(item []byte) {
	if c.ahead == nil {
		ahead, err := c.hash.(hash.Cloner).Clone()
		if err != nil {
			panic(err) // sha256 has no error to give
		}
		c.ahead = ahead
	}
	c.ahead.Write(item)
	c.buf = item
}

func (c *content) add(r *record.Record) {
	le := binary.LittleEndian
	if r.Ticks() > 0 {
		c.reach(r.Tick)
	}
	if len(r.Frame.Commands) > 0 {
		c.frame(&r.Frame)
	}
	switch r.Kind {
	case record.KindHeader:
		h := *r.Header
		h.Platform, h.Sources = "", ""
		var enc record.Encoder
		c.write(1, enc.Header(&h))
	case record.KindKeyframe:
		if c.began {
			return
		}
		c.began, c.tick = true, r.Tick
		b := le.AppendUint32(append(c.buf[:0], 2), uint32(r.Tick))
		b = le.AppendUint64(b, r.Keyframe.Hash)
		b = le.AppendUint32(b, uint32(len(r.Keyframe.Last)))
		for _, l := range r.Keyframe.Last {
			b = le.AppendUint32(append(b, byte(l.Player)), uint32(l.Sequence))
		}
		c.buf = le.AppendUint32(b, uint32(len(r.Keyframe.State)))
		c.hash.Write(c.buf)
		c.hash.Write(r.Keyframe.State)
	case record.KindChecksum:
		c.later(le.AppendUint64(le.AppendUint32(append(c.buf[:0], 5), uint32(r.Tick)), r.Hash))
	case record.KindMismatch:
		c.later(le.AppendUint64(append(le.AppendUint32(append(c.buf[:0], 6), uint32(r.Tick)), byte(r.Player)), r.Hash))
	case record.KindEnd:
		c.reach(c.tick)
		c.write(7, []byte(r.Text))
		if r.ByRules {
			c.write(8, r.Result)
		}
	}
}

func (c *content) frame(f *lockstep.Frame) {
	le := binary.LittleEndian
	b := le.AppendUint32(append(c.buf[:0], 3), uint32(f.Tick))
	b = le.AppendUint32(b, uint32(len(f.Commands)))
	for i := range f.Commands {
		m := &f.Commands[i]
		b = le.AppendUint32(append(b, byte(m.Player)), uint32(m.Sequence))
		b = le.AppendUint16(b, uint16(m.Kind))
		b = append(le.AppendUint32(b, uint32(len(m.Payload))), m.Payload...)
	}
	c.buf = b
	c.hash.Write(b)
}

func (c *content) write(tag byte, b []byte) {
	c.buf = binary.LittleEndian.AppendUint32(append(c.buf[:0], tag), uint32(len(b)))
	c.hash.Write(c.buf)
	c.hash.Write(b)
}

// sum returns the hash up to the last tick. The content takes no more records after it.
func (c *content) sum() (h Hash) {
	c.hash.Write(binary.LittleEndian.AppendUint32([]byte{0}, uint32(c.tick)))
	c.hash.Sum(h[:0])
	return h
}

// Attach copies the file of r to w with rules in place of those that it has; nil takes them away. The match must have ended. Its
// content hash and all signatures of it stay. Of the signatures that cover the rules, too, those of the same rules stay.
func Attach(w io.Writer, r *Reader, rules *Rules) error {
	s, err := readSigned(r)
	if err != nil {
		return err
	}
	return s.write(w, r, rules, s.signatures)
}

// signedText returns the signed bytes of a kind of signature, or nil if the rules that it covers are not known.
func signedText(kind byte, id lockstep.MatchID, h Hash, rules *Rules) []byte {
	text := fmt.Appendf(nil, "samestep replay %d\n", kind)
	text = append(append(text, id[:]...), h[:]...)
	switch {
	case kind == signedContent:
		return text
	case rules == nil:
		return nil
	}
	return append(text, rules.Sum[:]...)
}

// Sign copies the file of r to w with a signature of its content hash, in place of an earlier one of the same key. The match must have
// ended. Rewriting a file drops its signatures, so sign last; sealing does not change the signed content.
func Sign(w io.Writer, r *Reader, key ed25519.PrivateKey) error {
	return sign(w, r, key, signedContent)
}

// SignWithRules is Sign with a signature that covers the sum of the file's rules, too. The file must have rules.
func SignWithRules(w io.Writer, r *Reader, key ed25519.PrivateKey) error {
	return sign(w, r, key, signedRules)
}

func sign(w io.Writer, r *Reader, key ed25519.PrivateKey, kind byte) error {
	s, err := readSigned(r)
	if err != nil {
		return err
	}
	text := signedText(kind, r.match, s.content, s.rules)
	if text == nil {
		return errors.New("replay: the file has no rules that a signature could cover")
	}
	public := key.Public().(ed25519.PublicKey)
	s.signatures = slices.DeleteFunc(s.signatures, func(o signature) bool { return public.Equal(o.key()) })
	if len(s.signatures) == maxSignatures {
		return fmt.Errorf("replay: %w: %d signatures, want at most %d with the new one", ErrLimit, len(s.signatures)+1, maxSignatures)
	}
	rules, err := r.Rules() // with the module
	if err != nil {
		return err
	}
	body := append(append([]byte{kind}, public...), ed25519.Sign(key, text)...)
	return s.write(w, r, rules, append(s.signatures, body))
}

// write writes the file of r with other rules and signatures. Signatures that do not hold for these rules are left out.
func (s *signedFile) write(w io.Writer, r *Reader, rules *Rules, signatures []signature) error {
	if _, err := io.Copy(w, io.NewSectionReader(r.r, 0, s.end)); err != nil {
		return err
	}
	out := &Writer{w: w, chain: s.chain, size: s.end}
	if rules != nil {
		if err := out.writeBlock(blockRules, rules.append(nil)); err != nil {
			return err
		}
	}
	for _, b := range signatures {
		if b[0] == signedRules && !b.holds(r.match, s.content, rules) {
			continue
		}
		if err := out.writeBlock(blockSignature, b); err != nil {
			return err
		}
	}
	if marks, ok := r.readIndex(); ok {
		return out.writeBlock(blockIndex, appendIndex(nil, marks, out.size))
	}
	return nil
}

// VerifySignature returns nil if the file of r is signed with the private half of key, and unchanged.
func VerifySignature(r *Reader, key ed25519.PublicKey) error {
	s, err := readSigned(r)
	if err != nil {
		return err
	}
	err = fmt.Errorf("replay: %w: no signature", ErrSignature)
	for _, o := range s.signatures {
		switch signer := o.key(); {
		case signer == nil:
			err = fmt.Errorf("replay: %w: a signature of unknown kind %d: not checked, want one with key %x", ErrSignature, o[0], key)
		case !signer.Equal(key):
			err = fmt.Errorf("replay: %w: signed with key %x, want %x", ErrSignature, signer, key)
		case !o.holds(r.match, s.content, s.rules) && o[0] == signedRules:
			return fmt.Errorf("replay: %w: the signature is of another content than %s, or of other rules", ErrSignature, s.content)
		case !o.holds(r.match, s.content, s.rules):
			return fmt.Errorf("replay: %w: the signature is of another content than %s", ErrSignature, s.content)
		default:
			return nil
		}
	}
	return err
}

func (s signature) holds(id lockstep.MatchID, content Hash, rules *Rules) bool {
	text := signedText(s[0], id, content, rules)
	return text != nil && ed25519.Verify(s.key(), text, s[1+ed25519.PublicKeySize:])
}

// A Signature describes one signature of a file.
type Signature struct {
	// Kind is 1 for Ed25519, and 2 for Ed25519 of the content and the rules. Other kinds are unknown and not checked.
	Kind uint8 `json:"kind"`

	// Signer is the public key in hexadecimal digits, or empty for an unknown kind. The file does not say whose key it is.
	Signer string `json:"signer,omitempty"`

	// Signed says that the signature is valid for this content, and these rules if it covers them.
	Signed bool `json:"signed"`
}

func (r *Reader) signed(content Hash) []Signature {
	var all []Signature
	for _, s := range r.signatures {
		if key := s.key(); key != nil {
			all = append(all, Signature{s[0], hex.EncodeToString(key), s.holds(r.match, content, r.rules)})
		} else {
			all = append(all, Signature{Kind: s[0]})
		}
	}
	return all
}

type signedFile struct {
	content    Hash
	end        int64  // offset after the block of the end record
	chain      uint64 // its check
	signatures []signature
	rules      *Rules // without the module
}

func readSigned(r *Reader) (*signedFile, error) {
	all, err := r.Reopen()
	if err != nil {
		return nil, err
	}
	s := &signedFile{}
	c := newContent()
	for rec, err := range all.All() {
		if err != nil {
			return nil, err
		}
		c.add(rec)
		s.end, s.chain = all.offset, all.chain
	}
	s.content, s.signatures, s.rules = c.sum(), all.signatures, all.rules
	return s, nil
}

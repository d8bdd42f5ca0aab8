package replay

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
)

// ErrSignature is wrapped by the error of a file that has no signature of the key, or was changed after it.
var ErrSignature = errors.New("not signed so")

// signedText returns the signed bytes of a kind of signature, or nil if the rules that it covers are not known.
func signedText(kind byte, id lockstep.MatchID, h ContentHash, rules *Rules) []byte {
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

// Sign copies the file of r to w with a signature of its content hash. It keeps the signatures of other keys, and
// replaces that of the same key. The match must have ended. Blocks of unknown kinds after the end record are dropped.
// Rewriting the file drops all signatures, so sign last; sealing does not change the signed content.
func Sign(w io.Writer, r *Reader, key ed25519.PrivateKey) error {
	return sign(w, r, key, signedContent)
}

// SignWithRules is Sign with a signature that covers the sum of the file's rules, too: who trusts the key knows by which rules the
// match was played. The file must have rules.
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

// holds reports whether a signature of a known kind is valid for a content and rules.
func (s signature) holds(id lockstep.MatchID, content ContentHash, rules *Rules) bool {
	text := signedText(s[0], id, content, rules)
	return text != nil && ed25519.Verify(s.key(), text, s[1+ed25519.PublicKeySize:])
}

// A Signature describes one signature of a file.
type Signature struct {
	// Kind is 1 for Ed25519, and 2 for Ed25519 of the content and the rules. Other kinds are unknown and not checked.
	Kind uint8 `json:"kind"`

	// Signer is the public key in hexadecimal digits, or empty for an unknown kind. The file does not say whose key it
	// is.
	Signer string `json:"signer,omitempty"`

	// Signed says that the signature is valid for this content, and these rules if it covers them.
	Signed bool `json:"signed"`
}

// signed returns the signatures of a file that was read to its end.
func (r *Reader) signed(content ContentHash) []Signature {
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

// A signedFile is the content of a file for signing.
type signedFile struct {
	content    ContentHash
	end        int64  // offset after the block of the end record
	chain      uint64 // its check
	signatures []signature
	rules      *Rules // without the module
}

// readSigned reads a whole file.
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

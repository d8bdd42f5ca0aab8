package replay

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/seed-49bee653/samestep/lockstep"
)

// ErrSignature is wrapped by the error of a file that is not signed by a key,
// or was changed after it was.
var ErrSignature = errors.New("not signed so")

// signedWith is what a signature's first byte says: Ed25519.
const signedWith = 1

const signatureSize = 1 + ed25519.PublicKeySize + ed25519.SignatureSize

// signedText returns what is signed.
func signedText(id lockstep.MatchID, h ContentHash) []byte {
	return append(append([]byte("samestep replay 1\n"), id[:]...), h[:]...)
}

// Sign copies the file that r reads to w with a signature of its content hash,
// in place of one that it has. The match must have ended. Rewriting the file
// drops the signature, so sign last; sealing does not change what is signed.
func Sign(w io.Writer, r *Reader, key ed25519.PrivateKey) error {
	s, err := readSigned(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, io.NewSectionReader(r.r, 0, s.end)); err != nil {
		return err
	}
	body := append([]byte{signedWith}, key.Public().(ed25519.PublicKey)...)
	body = append(body, ed25519.Sign(key, signedText(r.match, s.content))...)
	out := &Writer{w: w, chain: s.chain, size: s.end}
	if err := out.writeBlock(blockSignature, body); err != nil {
		return err
	}
	if marks, ok := r.readIndex(); ok {
		return out.writeBlock(blockIndex, appendIndex(nil, marks, out.size))
	}
	return nil
}

// VerifySignature returns nil if the file that r reads is signed with the
// private half of key, and as it was then.
func VerifySignature(r *Reader, key ed25519.PublicKey) error {
	s, err := readSigned(r)
	if err != nil {
		return err
	}
	signer, signature := splitSignature(s.signature)
	switch {
	case signer == nil:
		return fmt.Errorf("replay: %w: no signature", ErrSignature)
	case !signer.Equal(key):
		return fmt.Errorf("replay: %w: signed with key %x, want %x", ErrSignature, signer, key)
	case !ed25519.Verify(key, signedText(r.match, s.content), signature):
		return fmt.Errorf("replay: %w: the signature is of another content than %s", ErrSignature, s.content)
	}
	return nil
}

// splitSignature returns the public key and the signature in a block's body,
// or nil without them.
func splitSignature(body []byte) (signer ed25519.PublicKey, signature []byte) {
	if len(body) != signatureSize || body[0] != signedWith {
		return nil, nil
	}
	return body[1 : 1+ed25519.PublicKeySize], body[1+ed25519.PublicKeySize:]
}

// signer returns the key in the signature of a file that was read to its end,
// and whether it is of the content.
func (r *Reader) signer(content ContentHash) (key string, holds bool) {
	signer, signature := splitSignature(r.signature)
	if signer == nil {
		return "", false
	}
	return hex.EncodeToString(signer), ed25519.Verify(signer, signedText(r.match, content), signature)
}

// A signedFile is what a file's signature is about.
type signedFile struct {
	content   ContentHash
	end       int64  // offset after the block of the end record
	chain     uint64 // its check
	signature []byte // body of the block, or nil
}

// readSigned reads a whole file.
func readSigned(r *Reader) (*signedFile, error) {
	all, err := NewReader(r.r, r.size)
	if err != nil {
		return nil, err
	}
	s := &signedFile{}
	c := newContent()
	for {
		rec, err := all.Next()
		if err == io.EOF {
			s.content, s.signature = c.sum(), all.signature
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		c.add(rec)
		s.end, s.chain = all.offset, all.chain
	}
}

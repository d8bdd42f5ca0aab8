package replay

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// The rules for the blocks after the records, one per row.
func TestTail(t *testing.T) {
	records := bytes.Join(logOf(5, func(e *record.Encoder, add func([]byte)) { add(e.Empty(9)) }), nil)
	begun := records[:len(records)-3] // without the end
	end := records[len(records)-3:]
	first := mark{0, prefixSize, bytes.Index(records, []byte{0x95, 2, 0})}
	size := func(bodies ...[]byte) (at int64) {
		at = prefixSize
		for _, b := range bodies {
			at += int64(len(appendBlockHeader(nil, 0, len(b))) + len(b) + checkSize)
		}
		return at
	}
	index := func(at int64, marks ...mark) []byte { return appendIndex(nil, marks, at) }
	good := index(size(records), first)
	public, private, _ := ed25519.GenerateKey(bytes.NewReader(make([]byte, 32)))
	signature := append(append([]byte{signedContent}, public...), ed25519.Sign(private, nil)...)
	rules := (&Rules{Sum: SumRules(nil)}).append(nil)
	other := bytes.Clone(signature)
	other[1] ^= 1

	type block struct {
		kind byte
		body []byte
	}
	batch := block{blockBatch, records}
	many := []block{batch}
	for range maxSignatures {
		many = append(many, block{blockSignature, []byte{9}})
	}
	for _, c := range []struct {
		name   string
		blocks []block
		want   error
	}{
		{"nothing", []block{batch}, io.EOF},
		{"an index", []block{batch, {blockIndex, good}}, io.EOF},
		{"a signature", []block{batch, {blockSignature, signature}}, io.EOF},
		{"signatures of two keys and of an unknown kind", []block{batch, {blockSignature, signature}, {blockSignature, other}, {blockSignature, []byte{9}}}, io.EOF},
		{"as many signatures as there may be", many, io.EOF},
		{"a block of an unknown kind after the index", []block{batch, {blockIndex, good}, {99, nil}}, ErrInvalid},
		{"an index before the end", []block{{blockBatch, begun}, {blockIndex, index(size(begun), first)}, {blockBatch, end}}, ErrInvalid},
		{"two indexes", []block{batch, {blockIndex, good}, {blockIndex, index(size(records, good), first)}}, ErrInvalid},
		{"an index of another offset", []block{batch, {blockIndex, index(99, first)}}, ErrInvalid},
		{"an index of a keyframe that is not there", []block{batch, {blockIndex, index(size(records), mark{9, prefixSize, first.at})}}, ErrInvalid},
		{"an index of another place", []block{batch, {blockIndex, index(size(records), mark{0, prefixSize, 0})}}, ErrInvalid},
		{"a signature before the end", []block{{blockBatch, begun}, {blockSignature, signature}, {blockBatch, end}}, ErrInvalid},
		{"a signature after the index", []block{batch, {blockIndex, good}, {blockSignature, signature}}, ErrInvalid},
		{"a short signature", []block{batch, {blockSignature, signature[:96]}}, ErrInvalid},
		{"a long signature", []block{batch, {blockSignature, append(bytes.Clone(signature), 0)}}, ErrInvalid},
		{"a signature without a kind", []block{batch, {blockSignature, nil}}, ErrInvalid},
		{"two signatures of one key", []block{batch, {blockSignature, signature}, {blockSignature, signature}}, ErrInvalid},
		{"rules", []block{batch, {blockRules, rules}}, io.EOF},
		{"rules, a signature and an index", []block{batch, {blockRules, rules}, {blockSignature, signature}, {blockIndex, index(size(records, rules, signature), first)}}, io.EOF},
		{"rules of an unknown kind", []block{batch, {blockRules, []byte{9}}}, io.EOF},
		{"rules before the end", []block{{blockBatch, begun}, {blockRules, rules}, {blockBatch, end}}, ErrInvalid},
		{"rules after the index", []block{batch, {blockIndex, good}, {blockRules, rules}}, ErrInvalid},
		{"rules twice", []block{batch, {blockRules, rules}, {blockRules, []byte{9}}}, ErrInvalid},
		{"rules without a kind", []block{batch, {blockRules, nil}}, ErrInvalid},
		{"short rules", []block{batch, {blockRules, rules[:33]}}, ErrInvalid},
		{"rules with a long number", []block{batch, {blockRules, append(bytes.Clone(rules[:33]), 0x80, 0)}}, ErrInvalid},
		{"rules of no bytes, and bytes", []block{batch, {blockRules, append(bytes.Clone(rules), 1)}}, ErrInvalid},
		{"rules of bytes that are not there", []block{batch, {blockRules, append(bytes.Clone(rules[:33]), 1)}}, ErrInvalid},
		{"rules that are too large", []block{batch, {blockRules, append(bytes.Clone(rules[:33]), 0x81, 0x80, 0x80, 0x10, 1)}}, ErrLimit},
		{"a short signature with rules", []block{batch, {blockSignature, append([]byte{signedRules}, signature[1:96]...)}}, ErrInvalid},
		{"a signature that is too large", []block{batch, {blockSignature, make([]byte, maxSignature+1)}}, ErrLimit},
		{"too many signatures", append(many[:len(many):len(many)], block{blockSignature, signature}), ErrLimit},
	} {
		var file bytes.Buffer
		w := &Writer{w: &file}
		w.write(appendPrefix(nil, lockstep.MatchID{}))
		w.chain = xxhash.Sum64(file.Bytes())
		for _, b := range c.blocks {
			if err := w.writeBlock(b.kind, b.body); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := readAll(t, file.Bytes()); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		r, err := NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(r, bagGame(), VerifyOptions{}); c.want != io.EOF && !errors.Is(err, c.want) || c.want == io.EOF && err != nil {
			t.Errorf("%s: verified with %v, want %v", c.name, err, c.want)
		}
		if at, err := r.Seek(5); at != 0 || err != nil {
			t.Errorf("%s: sought to tick %d, %v", c.name, at, err)
		}
	}
}

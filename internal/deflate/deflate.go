// Package deflate packs the pieces of large states that joiners get, and unpacks them: a host and a player do not, because a deterministic
// package must not depend on what is left in a pool of memory.
package deflate

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"

	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Pack appends raw, a piece of a state of at most [protocol.MaxPiece] bytes, in the DEFLATE form of RFC 1951. It returns dst as it is if that
// saves less than a sixteenth. Each piece stands alone, so a host packs a large state little by little, and any language's standard library unpacks it.
func Pack(dst, raw []byte) []byte {
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	out := bytes.NewBuffer(dst)
	w.Reset(out)
	if _, err := w.Write(raw); err != nil {
		return dst
	}
	if err := w.Close(); err != nil || out.Len()-len(dst) > len(raw)-len(raw)/16 {
		return dst
	}
	return out.Bytes()
}

// Unpack appends the piece of a state that packed has. It returns an error if packed is not one whole piece of 1 to most bytes.
func Unpack(dst, packed []byte, most int) ([]byte, error) {
	most = min(most, protocol.MaxPiece)
	in := bytes.NewReader(packed)
	r := flate.NewReader(in)
	out := bytes.NewBuffer(dst)
	n, err := io.CopyN(out, r, int64(most)+1)
	switch {
	case n > int64(most):
		return dst, fmt.Errorf("a packed piece of more than %d bytes", most)
	case err != io.EOF:
		return dst, fmt.Errorf("a packed piece: %w", err)
	case n == 0 || in.Len() > 0:
		return dst, fmt.Errorf("a packed piece of %d bytes, with %d bytes after it", n, in.Len())
	}
	return out.Bytes(), nil
}

// packers has what Pack writes with: some 700 KB, too many for each match.
var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.DefaultCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

package pack_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/seed-49bee653/samestep/internal/pack"
)

// FuzzReader reads bytes by a program, which is bytes as well. What is accepted
// is what a Writer writes for the same values, no panic, and what is returned
// is never longer than what was read.
func FuzzReader(f *testing.F) {
	f.Add([]byte{2, 0, 1, 3, 4, 2}, []byte("\x93\x05\xc3\xc4\x01x\xa1y\x90"))
	f.Add([]byte{2, 2, 2}, []byte("\xdd\xff\xff\xff\xff"))
	f.Add([]byte{3}, []byte("\xc6\xff\xff\xff\xff"))
	f.Add([]byte{4}, []byte("\xdb\x7f\xff\xff\xff"))
	f.Add([]byte{0, 0, 0}, []byte("\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xcd\x01\x00\xcc\x80"))
	f.Fuzz(func(t *testing.T, program, b []byte) {
		var r pack.Reader
		var w pack.Writer
		r.Reset(b)
		w.Begin(nil)
		for _, op := range program {
			switch left := r.Left(); op % 5 {
			case 0:
				w.Uint(r.Uint(math.MaxUint64))
			case 1:
				w.Bool(r.Bool())
			case 2:
				n := r.Array(0, math.MaxInt32)
				if n > left {
					t.Fatalf("%d values in %d bytes", n, left)
				}
				w.Array(n)
			case 3:
				w.Binary(r.Binary(math.MaxInt32))
			case 4:
				w.String(r.String(math.MaxInt32))
			}
			if r.Err() != nil {
				return
			}
			if got := w.Bytes(); !bytes.Equal(got, b[:r.Offset()]) {
				t.Fatalf("read % x, written as % x", b[:r.Offset()], got)
			} else {
				w.Begin(got)
			}
		}
	})
}

// FuzzSize compares the size of a value with what the library reads of it, and never passes the end.
func FuzzSize(f *testing.F) {
	for _, b := range []string{"\x93\x05\xc3\xc4\x01x", "\x81\xa1y\x90", "\xdd\xff\xff\xff\xff", "\xc6\xff\xff\xff\xff", "\xc7\x01\x05z", "\xd8\x05", "\xcb\x00", "\xdf\x00\x00\x00\x01\xd3\x00\x00\x00\x00\x00\x00\x00\x00\xc0", "\xc1"} {
		f.Add([]byte(b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		size, open := pack.Size(b)
		if size > len(b) || size > 0 && open > 0 {
			t.Fatalf("got size %d and %d of %d bytes", size, open, len(b))
		}
		src := bytes.NewReader(b)
		err := msgpack.NewDecoder(src).Skip()
		if read := len(b) - src.Len(); err == nil && read != size {
			t.Fatalf("% x: got %d bytes, the library reads %d", b, size, read)
		} else if err != nil && size > 0 {
			t.Fatalf("% x: got %d bytes, the library %v", b, size, err)
		}
	})
}

package pack_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/pack"
)

func write(f func(w *pack.Writer)) []byte {
	var w pack.Writer
	w.Begin(nil)
	f(&w)
	return w.Bytes()
}

func read(b []byte) *pack.Reader {
	var r pack.Reader
	r.Reset(b)
	return &r
}

// The bytes are made by hand from the MessagePack specification.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		v uint64
		b string
	}{
		{0, "\x00"}, {127, "\x7f"}, {128, "\xcc\x80"}, {255, "\xcc\xff"}, {256, "\xcd\x01\x00"}, {65535, "\xcd\xff\xff"},
		{65536, "\xce\x00\x01\x00\x00"}, {math.MaxUint32, "\xce\xff\xff\xff\xff"}, {1 << 32, "\xcf\x00\x00\x00\x01\x00\x00\x00\x00"},
		{math.MaxUint64, "\xcf\xff\xff\xff\xff\xff\xff\xff\xff"},
	} {
		if got := write(func(w *pack.Writer) { w.Uint(c.v) }); string(got) != c.b {
			t.Errorf("Uint(%d): got % x, want % x", c.v, got, c.b)
		}
		r := read([]byte(c.b))
		if got := r.Uint(math.MaxUint64); got != c.v || r.End() != nil {
			t.Errorf("% x: got %d, %v, want %d", c.b, got, r.End(), c.v)
		}
	}
}

func TestRanges(t *testing.T) {
	r := read([]byte{5})
	if r.Uint(4); !errors.Is(r.Err(), pack.ErrMalformed) {
		t.Errorf("got %v, want ErrMalformed", r.Err())
	}
}

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		n              int
		binary, string string // headers
		array          string
	}{
		{0, "\xc4\x00", "\xa0", "\x90"},
		{15, "\xc4\x0f", "\xaf", "\x9f"},
		{16, "\xc4\x10", "\xb0", "\xdc\x00\x10"},
		{31, "\xc4\x1f", "\xbf", "\xdc\x00\x1f"},
		{32, "\xc4\x20", "\xd9\x20", "\xdc\x00\x20"},
		{255, "\xc4\xff", "\xd9\xff", "\xdc\x00\xff"},
		{256, "\xc5\x01\x00", "\xda\x01\x00", "\xdc\x01\x00"},
		{65535, "\xc5\xff\xff", "\xda\xff\xff", "\xdc\xff\xff"},
		{65536, "\xc6\x00\x01\x00\x00", "\xdb\x00\x01\x00\x00", "\xdd\x00\x01\x00\x00"},
	} {
		text := strings.Repeat("x", c.n)
		if got := write(func(w *pack.Writer) { w.Binary([]byte(text)) }); string(got) != c.binary+text {
			t.Errorf("Binary of %d: got % x…, want % x…", c.n, got[:min(8, len(got))], c.binary)
		}
		if got := write(func(w *pack.Writer) { w.String(text) }); string(got) != c.string+text {
			t.Errorf("String of %d: got % x…, want % x…", c.n, got[:min(8, len(got))], c.string)
		}
		if got := write(func(w *pack.Writer) { w.Array(c.n) }); string(got) != c.array {
			t.Errorf("Array of %d: got % x, want % x", c.n, got, c.array)
		}
		if r := read([]byte(c.binary + text)); string(r.Binary(c.n)) != text || r.End() != nil {
			t.Errorf("Binary of %d: %v", c.n, r.End())
		}
		if r := read([]byte(c.string + text)); r.String(c.n) != text || r.End() != nil {
			t.Errorf("String of %d: %v", c.n, r.End())
		}
		if r := read([]byte(c.array + text)); r.Array(c.n, c.n) != c.n || r.Left() != c.n || r.Err() != nil {
			t.Errorf("Array of %d: %v", c.n, r.Err())
		}
		if r := read([]byte(c.binary + text)); c.n > 0 && (r.Binary(c.n-1) != nil || !errors.Is(r.Err(), pack.ErrMalformed)) {
			t.Errorf("Binary of %d, at most one less: %v", c.n, r.Err())
		}
		if r := read([]byte(c.array + text)); r.Array(c.n+1, c.n+2) != 0 || !errors.Is(r.Err(), pack.ErrMalformed) {
			t.Errorf("Array of %d, at least one more: %v", c.n, r.Err())
		}
	}
	if got := write(func(w *pack.Writer) { w.Binary(nil); w.Bool(true); w.Bool(false) }); string(got) != "\xc4\x00\xc3\xc2" {
		t.Errorf("nil, true, false: got % x", got)
	}
	if r := read([]byte("\xc3\xc2")); !r.Bool() || r.Bool() || r.End() != nil {
		t.Errorf("true, false: %v", r.End())
	}
}

// readers are all methods that read, with the widest limits.
var readers = map[string]func(r *pack.Reader){
	"uint":   func(r *pack.Reader) { r.Uint(math.MaxUint64) },
	"bool":   func(r *pack.Reader) { r.Bool() },
	"array":  func(r *pack.Reader) { r.Array(0, math.MaxInt32) },
	"binary": func(r *pack.Reader) { r.Binary(math.MaxInt32) },
	"string": func(r *pack.Reader) { r.String(math.MaxInt32) },
}

// Every method refuses bytes that no Writer writes.
func TestRefused(t *testing.T) {
	for name, b := range map[string]string{
		"1 in 2 bytes":             "\xcc\x01",
		"255 in 3 bytes":           "\xcd\x00\xff",
		"1 in 5 bytes":             "\xce\x00\x00\x00\x01",
		"1 in 9 bytes":             "\xcf\x00\x00\x00\x00\x00\x00\x00\x01",
		"-1":                       "\xff",
		"-33":                      "\xd0\xdf",
		"5, signed":                "\xd0\x05",
		"array of 1 in 3 bytes":    "\xdc\x00\x01\x00",
		"array of 1 in 5 bytes":    "\xdd\x00\x00\x00\x01\x00",
		"array of 2^32-1":          "\xdd\xff\xff\xff\xff",
		"array of 2^31":            "\xdd\x80\x00\x00\x00",
		"bytes of 2^32-1":          "\xc6\xff\xff\xff\xff",
		"string of 2^32-1":         "\xdb\xff\xff\xff\xff",
		"binary of 1 in 3 bytes":   "\xc5\x00\x01x",
		"binary of 1 in 5 bytes":   "\xc6\x00\x00\x00\x01x",
		"string of 1 in 2 bytes":   "\xd9\x01x",
		"string of 255 in 3 bytes": "\xda\x00\xff" + strings.Repeat("x", 255),
		"string of 1 in 5 bytes":   "\xdb\x00\x00\x00\x01x",
		"not UTF-8":                "\xa1\xff",
		"half a character":         "\xa2\xe2\x82",
		"a surrogate":              "\xa3\xed\xa0\x80",
		"nil":                      "\xc0",
		"never used":               "\xc1",
		"float32":                  "\xca\x00\x00\x00\x00",
		"float64":                  "\xcb\x00\x00\x00\x00\x00\x00\x00\x00",
		"fixmap":                   "\x80",
		"map32":                    "\xdf\xff\xff\xff\xff",
		"fixext1":                  "\xd4\x01\x00",
		"ext8":                     "\xc7\x00\x01",
		"ext32":                    "\xc9\xff\xff\xff\xff\x01",
		"timestamp":                "\xd6\xff\x00\x00\x00\x00",
	} {
		for method, f := range readers {
			r := read([]byte(b))
			f(r)
			if r.Err() == nil {
				t.Errorf("%s: accepted by %s", name, method)
			}
		}
	}
}

// Every proper beginning of a value is io.ErrUnexpectedEOF for the method that
// reads it.
func TestCut(t *testing.T) {
	for method, b := range map[string][]byte{
		"uint":   []byte("\xcf\x01\x00\x00\x00\x00\x00\x00\x00"),
		"bool":   []byte("\xc3"),
		"array":  []byte("\xdc\x00\x10aaaaaaaaaaaaaaaa"),
		"binary": append([]byte("\xc5\x01\x00"), make([]byte, 256)...),
		"string": []byte("\xa3abc"),
	} {
		for n := range b {
			r := read(b[:n])
			if readers[method](r); !errors.Is(r.Err(), io.ErrUnexpectedEOF) {
				t.Errorf("%s: the first %d of %d bytes: got %v, want ErrUnexpectedEOF", method, n, len(b), r.Err())
			}
		}
		r := read(append(b[:len(b):len(b)], 0))
		if readers[method](r); method != "array" && !errors.Is(r.End(), pack.ErrMalformed) {
			t.Errorf("%s: a byte left over: got %v", method, r.End())
		}
	}
}

// The first error stays, and everything is zero from then on.
func TestFirstError(t *testing.T) {
	r := read([]byte("\x05\xc3\xa1x\xc4\x01y\x91\x05"))
	r.Uint(4)
	first := r.Err()
	if first == nil {
		t.Fatal("5 is accepted as at most 4")
	}
	r.Fail("another")
	if r.Uint(9) != 0 || r.Bool() || r.String(9) != "" || r.Binary(9) != nil || r.Array(0, 9) != 0 || r.End() != first {
		t.Errorf("after %v: something is not zero, or %v", first, r.End())
	}
	r.Reset([]byte{7})
	if r.Uint(9) != 7 || r.End() != nil {
		t.Errorf("after Reset: %v", r.End())
	}
}

func TestAllocations(t *testing.T) {
	var w pack.Writer
	var r pack.Reader
	payload := bytes.Repeat([]byte{1}, 40)
	var buf []byte
	round := func() {
		w.Begin(buf[:0])
		w.Array(4)
		w.Uint(1 << 40)
		w.Bool(true)
		w.Binary(payload)
		w.String("text")
		buf = w.Bytes()
		r.Reset(buf)
		r.Array(4, 4)
		r.Uint(math.MaxUint64)
		r.Bool()
		r.Binary(40)
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
	if r.String(4) != "text" || r.End() != nil {
		t.Errorf("read back: %v", r.End())
	}
}

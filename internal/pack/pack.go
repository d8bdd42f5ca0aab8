// Package pack reads and writes the MessagePack that Samestep uses on the wire and on disk: unsigned integers, booleans,
// strings, byte strings and arrays, each in its one smallest form.
//
// The bytes may come from an attacker. So a [Reader] never decodes into an untyped value and never skips one. It compares
// every length with the remaining bytes before it returns it, checks every number against a range that the caller gives,
// and rejects each encoding that a [Writer] does not write. So writing an accepted value again gives the same bytes.
//
// A [Writer] appends to a slice, and a Reader keeps its first error, so a message is written and read in straight lines:
//
//	w.Begin(nil)             r.Reset(b)
//	w.Array(2)               r.Array(2, 2)
//	w.Uint(3)                n := r.Uint(255)
//	w.String("hi")           s := r.String(16)
//	b := w.Bytes()           err := r.End()
//
//samestep:deterministic
package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// ErrMalformed is wrapped by every error of a [Reader], except for bytes that end too early, which are an [io.ErrUnexpectedEOF].
var ErrMalformed = errors.New("MessagePack")

// ErrLimit is also wrapped by the error for an array, a byte string or a string that is longer than the caller allows.
var ErrLimit = errors.New("too long")

// A Reader reads the values that a [Writer] wrote. It keeps its first error, after which every method returns zero. The
// zero Reader has no bytes; give it some with [Reader.Reset]. It is not safe for concurrent use.
type Reader struct {
	b   []byte
	src bytes.Reader
	dec *msgpack.Decoder
	err error
}

// Reset makes the Reader read b from the start. Its results may point into b.
func (r *Reader) Reset(b []byte) {
	r.b, r.err = b, nil
	r.src.Reset(b)
	if r.dec == nil {
		r.dec = msgpack.NewDecoder(&r.src)
	}
}

// Err returns the first error, or nil.
func (r *Reader) Err() error { return r.err }

// Offset returns how many bytes have been read.
func (r *Reader) Offset() int { return len(r.b) - r.src.Len() }

// Left returns how many bytes have not been read.
func (r *Reader) Left() int { return r.src.Len() }

// End returns the first error. It is an error if bytes are left.
func (r *Reader) End() error {
	if r.err == nil && r.Left() > 0 {
		r.Fail("%d bytes left over", r.Left())
	}
	return r.err
}

// Fail sets the Reader's error to the formatted text and the offset, unless it has one: for well-formed values that are not allowed.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w at byte %d: %s", ErrMalformed, r.Offset(), fmt.Sprintf(format, args...))
	}
}

// code returns the first byte of the next value, which tells its type.
func (r *Reader) code() (byte, bool) {
	if r.err == nil && r.Left() == 0 {
		r.err = io.ErrUnexpectedEOF
	}
	if r.err != nil {
		return 0, false
	}
	return r.b[r.Offset()], true
}

// Uint reads a number from 0 to max.
func (r *Reader) Uint(max uint64) uint64 {
	c, ok := r.code()
	if !ok {
		return 0
	}
	if c > msgpcode.PosFixedNumHigh && (c < msgpcode.Uint8 || c > msgpcode.Uint64) {
		r.Fail("got code 0x%02x, want an unsigned number", c)
		return 0
	}
	from := r.Offset()
	v, err := r.dec.DecodeUint64()
	if r.decoded(err, from, uintSize(v)); r.err == nil && v > max {
		r.Fail("got %d, want at most %d", v, max)
	}
	if r.err != nil {
		return 0
	}
	return v
}

// Positive reads a number from 1 to max.
func (r *Reader) Positive(max uint64) uint64 {
	n := r.Uint(max)
	if n == 0 {
		r.Fail("got 0, want 1 to %d", max)
	}
	return n
}

// Bool reads a boolean.
func (r *Reader) Bool() bool {
	c, ok := r.code()
	if !ok {
		return false
	}
	if c != msgpcode.True && c != msgpcode.False {
		r.Fail("got code 0x%02x, want true or false", c)
		return false
	}
	v, err := r.dec.DecodeBool()
	r.decoded(err, r.Offset()-1, 1)
	return v
}

// Array reads the start of an array of min to max values and returns how many follow, never more than there are bytes left.
func (r *Reader) Array(min, max int) int {
	c, ok := r.code()
	if !ok {
		return 0
	}
	if !msgpcode.IsFixedArray(c) && c != msgpcode.Array16 && c != msgpcode.Array32 {
		r.Fail("got code 0x%02x, want an array", c)
		return 0
	}
	from := r.Offset()
	n, err := r.dec.DecodeArrayLen()
	r.decoded(err, from, arraySize(n))
	r.bound(n, min, max, "values")
	if r.err != nil {
		return 0
	}
	return n
}

// Binary reads a byte string of at most max bytes. The result is a part of the Reader's bytes, not a copy.
func (r *Reader) Binary(max int) []byte {
	c, ok := r.code()
	if !ok {
		return nil
	}
	if c != msgpcode.Bin8 && c != msgpcode.Bin16 && c != msgpcode.Bin32 {
		r.Fail("got code 0x%02x, want a byte string", c)
		return nil
	}
	return r.take(max, binarySize)
}

// String reads a string of at most max bytes of UTF-8.
func (r *Reader) String(max int) string {
	c, ok := r.code()
	if !ok {
		return ""
	}
	if !msgpcode.IsFixedString(c) && c != msgpcode.Str8 && c != msgpcode.Str16 && c != msgpcode.Str32 {
		r.Fail("got code 0x%02x, want a string", c)
		return ""
	}
	p := r.take(max, stringSize)
	if !utf8.Valid(p) {
		r.Fail("got a string that is not UTF-8")
		return ""
	}
	return string(p)
}

// take reads a length and that many bytes. header returns the size of the smallest form of a length.
func (r *Reader) take(max int, header func(int) int) []byte {
	from := r.Offset()
	n, err := r.dec.DecodeBytesLen()
	r.decoded(err, from, header(n))
	r.bound(n, 0, max, "bytes")
	if r.err != nil {
		return nil
	}
	at := r.Offset()
	r.src.Reset(r.b[at+n:])
	return r.b[at : at+n : at+n]
}

// decoded converts the library's error to the Reader's, and checks that the value at from has its smallest form, of size bytes.
func (r *Reader) decoded(err error, from, size int) {
	switch got := r.Offset() - from; {
	case r.err != nil || err == nil && got == size:
	case err == nil:
		r.Fail("got a value in %d bytes, want the smallest form in %d", got, size)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		r.err = io.ErrUnexpectedEOF
	default:
		r.Fail("%v", err)
	}
}

// bound checks a count against the caller's limits and the remaining bytes. A count beyond 2^31 is negative if an int has 32 bits.
func (r *Reader) bound(n, min, max int, what string) {
	switch {
	case r.err != nil:
	case n >= 0 && n < min, min == max && n != max:
		r.Fail("got %d %s, want %d to %d", uint32(n), what, min, max)
	case uint32(n) > uint32(max):
		r.err = fmt.Errorf("%w at byte %d: %w: got %d %s, want %d to %d", ErrMalformed, r.Offset(), ErrLimit, uint32(n), what, min, max)
	case n > r.Left():
		r.err = io.ErrUnexpectedEOF
	}
}

// The sizes in bytes of the smallest forms, from the MessagePack specification.

func uintSize(v uint64) int {
	switch {
	case v < 1<<7:
		return 1
	case v < 1<<8:
		return 2
	case v < 1<<16:
		return 3
	case v < 1<<32:
		return 5
	}
	return 9
}

func arraySize(n int) int {
	switch {
	case uint32(n) < 1<<4:
		return 1
	case uint32(n) < 1<<16:
		return 3
	}
	return 5
}

func binarySize(n int) int {
	switch {
	case uint32(n) < 1<<8:
		return 2
	case uint32(n) < 1<<16:
		return 3
	}
	return 5
}

func stringSize(n int) int {
	if uint32(n) < 1<<5 {
		return 1
	}
	return binarySize(n)
}

// A Writer writes values in their smallest form, and reuses its encoder. The zero Writer is ready. It is not safe for concurrent use.
type Writer struct {
	buf appender
	enc *msgpack.Encoder
}

// appender is the io.Writer of the encoder. It never fails, so the Writer's methods ignore the encoder's errors.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) { a.b = append(a.b, p...); return len(p), nil }
func (a *appender) WriteByte(c byte) error      { a.b = append(a.b, c); return nil }

// Begin makes the Writer append to dst.
func (w *Writer) Begin(dst []byte) {
	if w.enc == nil {
		w.enc = msgpack.NewEncoder(&w.buf)
	}
	w.buf.b = dst
}

// Bytes returns dst with all bytes written since [Writer.Begin], and forgets it.
func (w *Writer) Bytes() []byte {
	b := w.buf.b
	w.buf.b = nil
	return b
}

// Uint writes an unsigned number in 1, 2, 3, 5 or 9 bytes.
func (w *Writer) Uint(v uint64) {
	if v <= uint64(msgpcode.PosFixedNumHigh) { // most are: this saves the encoder's indirect calls
		w.buf.b = append(w.buf.b, byte(v))
		return
	}
	w.enc.EncodeUint(v)
}

// Bool writes a boolean in 1 byte.
func (w *Writer) Bool(v bool) { w.enc.EncodeBool(v) }

// Array writes the start of an array: n values follow.
func (w *Writer) Array(n int) {
	if n < 16 { // as in Uint
		w.buf.b = append(w.buf.b, msgpcode.FixedArrayLow|byte(n))
		return
	}
	w.enc.EncodeArrayLen(n)
}

// String writes a string.
//
//samestep:allow unsafe the library reads the bytes of a string in place
func (w *Writer) String(s string) { w.enc.EncodeString(s) }

// Binary writes a byte string. Nil is written as an empty one.
func (w *Writer) Binary(p []byte) {
	w.enc.EncodeBytesLen(len(p))
	w.buf.b = append(w.buf.b, p...)
}

// Size returns the size of the value that b begins with, of any type, together with the values inside of it. If b ends inside
// the value, or does not begin with one, size is 0; open is the size that the string, byte string or extension at that place
// claims, if it begins before the end of b.
func Size(b []byte) (size int, open uint64) {
	at := uint64(0)
	for left := uint64(1); left > 0; left-- {
		if at >= uint64(len(b)) {
			return 0, 0
		}
		c := b[at]
		at++
		width := 0 // of a length
		content := uint64(0)
		switch {
		case c < 0x80 || c >= 0xe0 || c == 0xc0 || c == 0xc2 || c == 0xc3: // a small number, nil, a bool
		case c < 0x90:
			left += 2 * uint64(c&15)
		case c < 0xa0:
			left += uint64(c & 15)
		case c < 0xc0:
			content = uint64(c & 31)
		case c >= 0xc4 && c <= 0xc6: // bytes
			width = 1 << (c - 0xc4)
		case c >= 0xc7 && c <= 0xc9: // an extension
			width, content = 1<<(c-0xc7), 1
		case c == 0xca || c == 0xcb: // a float
			at += 4 << (c - 0xca)
		case c >= 0xcc && c <= 0xcf:
			at += 1 << (c - 0xcc)
		case c >= 0xd0 && c <= 0xd3:
			at += 1 << (c - 0xd0)
		case c >= 0xd4 && c <= 0xd8: // a short extension
			at += 1 + 1<<(c-0xd4)
		case c >= 0xd9 && c <= 0xdb: // a string
			width = 1 << (c - 0xd9)
		case c >= 0xdc: // an array or a map
			width = 2 << ((c - 0xdc) % 2)
		default:
			return 0, 0
		}
		if width > 0 {
			var n [8]byte
			if uint64(len(b))-at < uint64(width) {
				return 0, 0
			}
			copy(n[8-width:], b[at:at+uint64(width)])
			at += uint64(width)
			switch number := binary.BigEndian.Uint64(n[:]); {
			case c < 0xdc:
				content += number
			case c < 0xde:
				left += number
			default:
				left += 2 * number
			}
		}
		if at <= uint64(len(b)) && content > uint64(len(b))-at {
			return 0, content
		}
		if at += content; at > uint64(len(b)) || left-1 > uint64(len(b))-at {
			return 0, 0 // each value has at least a byte
		}
	}
	return int(at), 0
}

// Clip cuts text to at most max bytes of valid UTF-8, between characters.
func Clip(text string, max int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max]
}

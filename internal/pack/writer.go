package pack

import (
	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// A Writer writes values in their smallest form. The zero Writer is ready. It allocates its encoder once and may be
// reused. It is not safe for concurrent use.
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

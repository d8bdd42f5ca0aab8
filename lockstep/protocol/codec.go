package protocol

import (
	"cmp"
	"fmt"
	"math"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A Reader decodes messages. The zero Reader is ready. It belongs to one goroutine.
type Reader struct {
	r        pack.Reader
	sections []uint64
	names    []string
}

// maxValues is the number of values, with the kind, of the message that has most: auth.
const maxValues = 13

// IsRecord reports whether the message that b begins with is a record of the log, which a [record.Decoder] decodes.
func IsRecord(b []byte) bool {
	header := 1
	switch {
	case len(b) > 0 && b[0] == 0xdc:
		header = 3
	case len(b) > 0 && b[0] == 0xdd:
		header = 5
	}
	return len(b) > header && (b[header] < byte(KindAuth) || b[header] >= byte(record.FirstOptional))
}

// Read decodes the message that b begins with and returns the rest of b. The message shares memory with both until the next call.
func (d *Reader) Read(m *Message, b []byte) ([]byte, error) {
	r := &d.r
	r.Reset(b)
	n := r.Array(1, maxValues)
	*m = Message{Kind: Kind(r.Uint(127))}
	known := describe(m.Kind)
	if known != nil {
		d.values(m, known.fields)
	}
	if r.Err() == nil && (known == nil || n != 1+len(known.fields)) {
		r.Fail("message %d with %d values", m.Kind, n)
	}
	if err := r.Err(); err != nil {
		return b, fmt.Errorf("lockstep: message %d: %w", m.Kind, record.AsMalformed(err))
	}
	return b[r.Offset():], nil
}

func (d *Reader) values(m *Message, fields []field) {
	switch m.Kind {
	case KindAuth:
		m.Auth = new(Auth)
	case KindWelcome:
		m.Welcome = new(Welcome)
	}
	for i := range fields {
		fields[i].read(d, m)
	}
}

// A Writer encodes messages. The zero Writer is ready. It belongs to one goroutine.
type Writer struct{ w pack.Writer }

// Append appends a message to dst.
func (e *Writer) Append(dst []byte, m *Message) []byte {
	d := describe(m.Kind)
	if d == nil {
		panic(fmt.Sprintf("lockstep: no message of kind %d", m.Kind)) // the kinds are constants of this package
	}
	w := &e.w
	w.Begin(dst)
	w.Array(1 + len(d.fields))
	w.Uint(uint64(m.Kind))
	for i := range d.fields {
		d.fields[i].write(w, m)
	}
	return w.Bytes()
}

func (f *field) read(d *Reader, m *Message) {
	r := &d.r
	switch p := f.at(m).(type) {
	case *uint8:
		*p = uint8(f.number(r, math.MaxUint8))
	case *uint16:
		*p = uint16(f.number(r, math.MaxUint16))
	case *uint32:
		*p = uint32(f.number(r, math.MaxUint32))
	case *uint64:
		*p = f.number(r, math.MaxUint64)
	case *bool:
		*p = r.Bool()
	case *string:
		*p = r.String(int(f.high))
	case *[]byte:
		*p = r.Binary(int(cmp.Or(f.high, MaxServerMessage))) // as much as any message has
	case *[]uint64:
		d.sections = d.sections[:0]
		for range r.Array(0, int(f.high)) {
			d.sections = append(d.sections, r.Uint(math.MaxUint64))
		}
		*p = d.sections
	case *[]string:
		d.names = d.names[:0]
		for range r.Array(0, int(f.high)) {
			d.names = append(d.names, r.String(record.MaxName))
		}
		*p = d.names
	case *lockstep.Player:
		*p = lockstep.Player(r.Uint(math.MaxUint8))
		if *p >= lockstep.MaxPlayers && *p != lockstep.System {
			r.Fail("got player %d, want at most %d", *p, lockstep.MaxPlayers-1)
		}
	case *SessionToken:
		readSession(r, p)
	case *lockstep.SelfTest:
		parts := p.Parts()
		r.Array(len(parts), len(parts))
		for _, part := range parts {
			*part.Sum = r.Uint(math.MaxUint64)
		}
	}
	if f.check != nil && r.Err() == nil {
		if err := f.check(m); err != nil {
			r.Fail("%v", err)
		}
	}
}

func (f *field) number(r *pack.Reader, max uint64) uint64 {
	if f.high > 0 {
		max = f.high
	}
	n := r.Uint(max)
	if n < f.low && r.Err() == nil {
		r.Fail("got %d, want %d to %d", n, f.low, max)
	}
	return n
}

func readSession(r *pack.Reader, s *SessionToken) {
	switch p := r.Binary(len(s)); len(p) {
	case 0:
	case len(s):
		if copy(s[:], p); *s == (SessionToken{}) {
			r.Fail("got a session of zeros")
		}
	default:
		r.Fail("got a session of %d bytes, want %d", len(p), len(s))
	}
}

func (f *field) write(w *pack.Writer, m *Message) {
	switch p := f.at(m).(type) {
	case *uint8:
		w.Uint(uint64(*p))
	case *uint16:
		w.Uint(uint64(*p))
	case *uint32:
		w.Uint(uint64(*p))
	case *uint64:
		w.Uint(*p)
	case *bool:
		w.Bool(*p)
	case *string:
		if f.clip {
			w.String(pack.Clip(*p, int(f.high)))
		} else {
			w.String(*p)
		}
	case *[]byte:
		w.Binary(*p)
	case *[]uint64:
		w.Array(len(*p))
		for _, n := range *p {
			w.Uint(n)
		}
	case *[]string:
		w.Array(len(*p))
		for _, s := range *p {
			w.String(pack.Clip(s, record.MaxName))
		}
	case *lockstep.Player:
		w.Uint(uint64(*p))
	case *SessionToken:
		if *p == (SessionToken{}) {
			w.Binary(nil)
		} else {
			w.Binary(p[:])
		}
	case *lockstep.SelfTest:
		parts := p.Parts()
		w.Array(len(parts))
		for _, part := range parts {
			w.Uint(*part.Sum)
		}
	}
}

package protocol

import (
	"cmp"
	"math"

	"github.com/seed-49bee653/samestep/internal/pack"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A field is one value of a message.
type field struct {
	name      string
	at        func(*Message) any   // a pointer to where it stands in a Message; its type says how it is written
	low, high uint64               // limits of a number, or of the length of anything else; high 0: of its type
	clip      bool                 // the writer cuts a text to the limit
	check     func(*Message) error // a rule beyond the limits, or nil
	note      string               // for docs/spec/live.md, after the type and the limits
}

// read reads the field's value into m.
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
		readPlayer(r, p)
	case *SessionToken:
		readSession(r, p)
	case *lockstep.SelfTest:
		readSelfTest(r, p)
	}
	if f.check != nil && r.Err() == nil {
		if err := f.check(m); err != nil {
			r.Fail("%v", err)
		}
	}
}

// number reads a number of a type that holds at most max.
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

func readPlayer(r *pack.Reader, p *lockstep.Player) {
	*p = lockstep.Player(r.Uint(math.MaxUint8))
	if *p >= lockstep.MaxPlayers && *p != lockstep.System {
		r.Fail("got player %d, want at most %d", *p, lockstep.MaxPlayers-1)
	}
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

func readSelfTest(r *pack.Reader, t *lockstep.SelfTest) {
	parts := t.Parts()
	r.Array(len(parts), len(parts))
	for _, p := range parts {
		*p.Sum = r.Uint(math.MaxUint64)
	}
}

// write writes the field's value of m.
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
		writeSelfTest(w, p)
	}
}

func writeSelfTest(w *pack.Writer, t *lockstep.SelfTest) {
	parts := t.Parts()
	w.Array(len(parts))
	for _, p := range parts {
		w.Uint(*p.Sum)
	}
}

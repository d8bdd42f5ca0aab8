package protocol

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
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

// Read decodes the message that b begins with and returns the rest of b. The message shares memory with b and with the
// reader; it is valid until the next call. Errors wrap [record.ErrMalformed] or are [io.ErrUnexpectedEOF].
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

package protocol

import (
	"fmt"

	"github.com/seed-49bee653/samestep/internal/pack"
)

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

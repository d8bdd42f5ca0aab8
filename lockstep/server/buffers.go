package server

import (
	"errors"
	"io"
	"sync"
)

// A buffer holds one message of a client, from its socket to its match.
type buffer struct{ b []byte }

// fill reads r to its end.
func (b *buffer) fill(r io.Reader) error {
	b.b = b.b[:0]
	for {
		if len(b.b) == cap(b.b) {
			b.b = append(b.b, 0)[:len(b.b)]
		}
		n, err := r.Read(b.b[len(b.b):cap(b.b)])
		b.b = b.b[:len(b.b)+n]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// A bufferPool keeps buffers for use again. Those that a large message made
// large are dropped.
type bufferPool struct{ p sync.Pool }

var buffers bufferPool

func (p *bufferPool) get() *buffer {
	if b, ok := p.p.Get().(*buffer); ok {
		return b
	}
	return &buffer{make([]byte, 0, 512)}
}

func (p *bufferPool) put(b *buffer) {
	if cap(b.b) <= keepBuffer {
		p.p.Put(b)
	}
}

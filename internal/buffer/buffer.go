// Package buffer keeps the memory of messages between a socket and a match, so that receiving and sending allocates
// nothing once it runs:
//
//	b := pool.Get()
//	if err := b.Fill(r); err != nil { … }
//	use(b.Bytes)
//	pool.Put(b)
package buffer

import (
	"errors"
	"io"
	"sync"
)

// start is the capacity of a new buffer. Most messages are smaller.
const start = 512

// A Buffer holds one message.
type Buffer struct{ Bytes []byte }

// Fill replaces the content of b by all bytes of r.
func (b *Buffer) Fill(r io.Reader) error {
	b.Bytes = b.Bytes[:0]
	for {
		if len(b.Bytes) == cap(b.Bytes) {
			b.Bytes = append(b.Bytes, 0)[:len(b.Bytes)]
		}
		n, err := r.Read(b.Bytes[len(b.Bytes):cap(b.Bytes)])
		b.Bytes = b.Bytes[:len(b.Bytes)+n]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// A Pool keeps buffers for reuse, by any goroutine.
type Pool struct {
	// Keep is the largest capacity in bytes of a buffer to keep. The pool drops larger ones.
	Keep int

	pool sync.Pool
}

// Get returns a buffer with arbitrary content.
func (p *Pool) Get() *Buffer {
	if b, ok := p.pool.Get().(*Buffer); ok {
		return b
	}
	return &Buffer{make([]byte, 0, start)}
}

// Put returns a buffer to the pool.
func (p *Pool) Put(b *Buffer) {
	if cap(b.Bytes) <= p.Keep {
		p.pool.Put(b)
	}
}

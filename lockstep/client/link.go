package client

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A link is one connection with its two goroutines.
type link struct {
	ws      *websocket.Conn
	arrived chan *buffer
	gone    chan error // once, when nothing arrives any more
	out     chan *buffer
	stop    chan struct{} // closed when nobody takes what arrives any more
	closed  chan struct{} // closed when what was given is sent, and the other end knows that it was all
}

func newLink(ws *websocket.Conn) *link {
	ws.SetReadLimit(lockstep.MaxServerMessage)
	l := &link{
		ws: ws, arrived: make(chan *buffer, maxUnread), gone: make(chan error, 1),
		out: make(chan *buffer, maxUnsent), stop: make(chan struct{}), closed: make(chan struct{}),
	}
	go l.read()
	go l.write()
	return l
}

// read takes messages from the socket. It waits while too many are unread,
// which the server notices by our acks.
func (l *link) read() {
	for {
		_, r, err := l.ws.Reader(context.Background())
		if err != nil {
			l.gone <- err
			return
		}
		b := buffers.get()
		if err := b.fill(r); err != nil {
			l.gone <- err
			return
		}
		select {
		case l.arrived <- b:
		case <-l.stop:
			return
		}
	}
}

// write sends messages until the link is closed, and then closes the socket.
func (l *link) write() {
	defer close(l.closed)
	for b := range l.out {
		err := l.ws.Write(context.Background(), websocket.MessageBinary, b.b)
		buffers.put(b)
		if err != nil {
			l.ws.CloseNow()
			for range l.out { // nobody must wait for a dead socket
			}
			return
		}
	}
	l.ws.Close(websocket.StatusNormalClosure, "")
}

// close ends the link after what was given to it is sent.
func (l *link) close() {
	close(l.stop)
	close(l.out)
}

// A buffer holds one message.
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

// A bufferPool keeps buffers for use again, but not large ones.
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

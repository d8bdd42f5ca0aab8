package client

import (
	"context"
	"sync"
	"time"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A link is one connection with its two goroutines.
type link struct {
	socket  *socket
	arrived chan *buffer.Buffer
	gone    chan error // once, when nothing arrives any more
	out     chan *buffer.Buffer
	stop    chan struct{} // closed when nobody takes what arrives any more
	ending  sync.Once     // by expire
	closed  chan struct{} // closed when what was given is sent, and the other end knows that it was all
}

func newLink(s *socket) *link {
	l := &link{
		socket: s, arrived: make(chan *buffer.Buffer, maxUnread), gone: make(chan error, 1),
		out: make(chan *buffer.Buffer, maxUnsent), stop: make(chan struct{}), closed: make(chan struct{}),
	}
	go l.read()
	go l.write()
	return l
}

// read reads messages from the socket. It waits while too many are unhandled; the server sees missing acks.
func (l *link) read() {
	for {
		b := buffers.Get()
		if err := l.socket.read(b); err != nil {
			buffers.Put(b)
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
		err := l.socket.write(b.Bytes)
		buffers.Put(b)
		if err != nil {
			l.socket.abort()
			for range l.out { // the session must not wait for a dead socket
			}
			return
		}
	}
	l.socket.close()
}

// close sends the messages that the link has, and then ends it.
func (l *link) close() {
	close(l.stop)
	close(l.out)
	l.expire()
}

// expire cuts the link soon: otherwise a server that reads nothing would keep it open for ever.
func (l *link) expire() {
	l.ending.Do(func() { time.AfterFunc(lastWords, l.socket.abort) })
}

// buffers reuses the memory of messages.
var buffers = buffer.Pool{Keep: keepBuffer}

const (
	dialTimeout = 10 * time.Second

	// clusterDialTimeout is the time limit where other servers can be tried. One of them may wait for the match that
	// another one has lost.
	clusterDialTimeout = 4 * time.Second

	clusterPing    = 500 * lockstep.Millisecond
	clusterSilence = 1500 * lockstep.Millisecond
	clusterFirst   = 100 * lockstep.Millisecond
	clusterLongest = lockstep.Second

	closeTimeout = time.Second
	lastWords    = 5 * time.Second // from when a link is to end until it is cut
	maxUnread    = 64              // messages that have arrived and were not given to the client
	maxUnsent    = 4               // messages that the socket has not taken
	maxText      = record.MaxNote  // bytes of the text of an error to connect

	// keepBuffer is the size up to which a message's memory is reused.
	keepBuffer = 8 << 10
)

// farewell returns why a session leaves: the cause of its context, if somebody gave one.
func farewell(ctx context.Context) string {
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return cause.Error()
	}
	return ""
}

// Package wsmatch carries messages between a WebSocket and the goroutine of a match.
//
// A [Conn] reads in one goroutine and writes in another. The match never waits for it: it gets what was read by [Match.Received],
// and gives what is to be written in [Conn.Feed], at most a few messages at a time. The rest stays with the match until the Conn
// asks for it ([Match.More]).
//
// [Places] counts what clients use at a time, by [AddressOf].
package wsmatch

import (
	"context"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/internal/buffer"
)

// closeTimeout is the time that a closing connection has to read the reason.
const closeTimeout = 2 * time.Second

// A Match takes what a Conn reads, and has what it writes. The functions that return a bool post to the match's goroutine, and
// report false if that has ended.
type Match interface {
	Received(*buffer.Buffer) bool // puts the buffer back into Options.Buffers
	More() bool                   // there is room for messages: call Feed
	Closed() bool                 // the socket is closed
	Next(dst []byte) []byte       // appends the next message, or nothing; called by Feed
}

// Options are those of a [Conn].
type Options struct {
	Match    Match
	Socket   net.Conn                         // below the WebSocket
	Buffers  *buffer.Pool                     // of messages that were read
	Queue    int                              // messages that wait for the socket, besides those being written
	Keep     int                              // bytes of memory that are kept for the next messages
	Over     <-chan struct{}                  // closed when the match's goroutine has ended
	OverText string                           // what the other end is told then
	Status   func(error) websocket.StatusCode // for an error of reading; nil is a protocol error
	Closing  func()                           // called once when the Conn begins to close, with its mutex held; may be nil
}

// A Conn is a WebSocket of a match. The match's goroutine fills it, and its own writer sends it.
type Conn struct {
	ws      *websocket.Conn
	options Options
	wake    chan struct{} // one of the following fields has changed

	mu        sync.Mutex
	out       outbox // to be written
	more      bool   // the match may have more, which did not fit
	requested bool   // the match was asked for it, and has not answered
	closing   bool   // close after out is written
	reason    string
	abort     *time.Timer // closes the socket after closeTimeout
}

// An outbox is a queue of messages.
type outbox struct {
	b    []byte
	ends []int // of each message, in b
}

// New returns a Conn that [Conn.Serve] will serve.
func New(ws *websocket.Conn, o Options) *Conn {
	return &Conn{ws: ws, options: o, wake: make(chan struct{}, 1)}
}

// Serve reads and writes until the socket is closed.
func (c *Conn) Serve() {
	done := make(chan struct{})
	writer := make(chan struct{})
	go func() {
		defer close(writer)
		c.write(done)
	}()
	status := c.read()
	close(done)
	c.Abort()
	c.ws.Close(status, "") // does nothing if the other end closed
	<-writer
	c.abort.Stop()
}

// Abort closes the socket after closeTimeout: the closing handshake of a WebSocket can take longer, and a client that does
// not read never answers. The function that it returns ends the waiting.
func (c *Conn) Abort() (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.abortLocked()
	return c.abort.Stop
}

func (c *Conn) abortLocked() {
	if c.abort == nil {
		c.abort = time.AfterFunc(closeTimeout, func() { c.options.Socket.Close() })
	}
}

// read gives messages from the socket to the match until the socket or the match ends. It returns the status for the close
// frame.
func (c *Conn) read() websocket.StatusCode {
	defer c.options.Match.Closed()
	for {
		// A context with an end would allocate memory for each message. The match finds silent clients, and closes
		// their sockets.
		kind, r, err := c.ws.Reader(context.Background())
		if err != nil {
			return c.status(err)
		}
		if kind != websocket.MessageBinary {
			return websocket.StatusUnsupportedData
		}
		b := c.options.Buffers.Get()
		if err := b.Fill(r); err != nil {
			c.options.Buffers.Put(b)
			return c.status(err)
		}
		if !c.options.Match.Received(b) {
			return websocket.StatusGoingAway
		}
	}
}

// status returns the status for a connection whose reading ended with err.
func (c *Conn) status(err error) websocket.StatusCode {
	if c.options.Status == nil {
		return websocket.StatusProtocolError
	}
	return c.options.Status(err)
}

// write sends the messages in out until the connection is closed.
func (c *Conn) write(done <-chan struct{}) {
	var now outbox
	for {
		select {
		case <-c.wake:
		case <-done:
			return
		case <-c.options.Over: // it ended before it took this connection
			c.ws.Close(websocket.StatusGoingAway, c.options.OverText)
			return
		}
		now.clear(c.options.Keep)
		c.mu.Lock()
		now, c.out = c.out, now
		c.mu.Unlock()
		if !c.send(&now) {
			c.ws.CloseNow()
			return
		}
		c.mu.Lock()
		ask := c.more && !c.requested
		c.requested = c.requested || ask
		over := c.closing && c.out.empty() && !c.more
		reason := c.reason
		c.mu.Unlock()
		if ask {
			c.options.Match.More()
		}
		if over {
			c.ws.Close(websocket.StatusNormalClosure, reason)
			return
		}
	}
}

// send writes the messages of an outbox to the socket.
func (c *Conn) send(o *outbox) bool {
	from := 0
	for _, end := range o.ends {
		// A context with a timeout would allocate memory for each message. The match finds stalled connections by
		// their missing acks.
		if c.ws.Write(context.Background(), websocket.MessageBinary, o.b[from:end]) != nil {
			return false
		}
		from = end
	}
	return true
}

// Feed takes messages from the match, whose goroutine calls it.
func (c *Conn) Feed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.more, c.requested = true, false
	for len(c.out.ends) < c.options.Queue {
		before := len(c.out.b)
		if c.out.b = c.options.Match.Next(c.out.b); len(c.out.b) == before {
			c.more = false
			break
		}
		c.out.ends = append(c.out.ends, len(c.out.b))
	}
	if !c.out.empty() || c.closing {
		c.wakeUp()
	}
}

// Finish makes the writer close the socket when all that the match has is written.
func (c *Conn) Finish(reason string) { c.end(reason, false) }

// End makes the writer close the socket when what the Conn has is written. It does not wait, because closing a socket can
// take seconds.
func (c *Conn) End(reason string) { c.end(reason, true) }

func (c *Conn) end(reason string, now bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now {
		c.more = false
	}
	if !c.closing {
		c.closing, c.reason = true, Clip(reason)
		if c.options.Closing != nil {
			c.options.Closing()
		}
		c.abortLocked()
	}
	c.wakeUp()
}

// Clip cuts a reason to the size of a WebSocket's close frame, between characters: a browser treats a frame that is not UTF-8 as
// a broken connection.
func Clip(reason string) string {
	return strings.ToValidUTF8(reason[:min(len(reason), 120)], "")
}

func (c *Conn) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) empty() bool { return len(o.ends) == 0 }

// clear removes the messages, and frees memory above keep.
func (o *outbox) clear(keep int) {
	o.b, o.ends = o.b[:0], o.ends[:0]
	if cap(o.b) > keep {
		o.b = nil
	}
}

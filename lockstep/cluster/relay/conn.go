//go:build !js

package relay

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep/cluster/audience"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

const (
	// keepBuffer is the memory that a connection keeps for its next message, in bytes.
	keepBuffer = 1 << 10

	// maxQueued is the number of messages that wait for a socket, besides the one being written. Others stay in the ring.
	maxQueued = 2

	// closeTimeout is the time that a closing connection has to read the reason.
	closeTimeout = 2 * time.Second
)

// buffers reuses the memory of messages between a socket and its match.
var buffers = buffer.Pool{Keep: 4 << 10}

// A conn is the WebSocket of a spectator. The goroutine of its match fills out, and its own writer sends it.
type conn struct {
	match  *Match
	ws     *websocket.Conn
	socket net.Conn    // below it
	id     host.PeerID // used by the match's goroutine only
	addr   netip.Prefix

	wake chan struct{} // one of the following fields has changed

	mu        sync.Mutex
	out       []byte
	ends      []int // of each message in out
	more      bool  // the match may have more, which did not fit
	requested bool  // the match was asked for it, and has not answered
	closing   bool  // close after out is written
	reason    string
	abort     *time.Timer // closes the socket after closeTimeout
}

// feed moves messages for this connection from the audience to out. The match's goroutine calls it.
func (c *conn) feed(a *audience.Audience) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.more, c.requested = true, false
	for len(c.ends) < maxQueued {
		before := len(c.out)
		if c.out = a.Send(c.id, c.out); len(c.out) == before {
			c.more = false
			break
		}
		c.ends = append(c.ends, len(c.out))
	}
	if _, reason, closed := a.Closed(c.id); closed {
		c.endLocked(reason)
	}
	if len(c.ends) > 0 || c.closing {
		c.wakeUp()
	}
}

func (c *conn) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// end makes the writer close the socket when out is written.
func (c *conn) end(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.more = false
	c.endLocked(reason)
	c.wakeUp()
}

func (c *conn) endLocked(reason string) {
	if !c.closing {
		c.closing, c.reason = true, reason
		c.abortLocked()
	}
}

// abortLocked closes the socket after closeTimeout: a client that does not read never answers the closing handshake.
func (c *conn) abortLocked() {
	if c.abort == nil {
		c.abort = time.AfterFunc(closeTimeout, func() { c.socket.Close() })
	}
}

// serve reads and writes until the socket is closed.
func (c *conn) serve() {
	if !c.match.post(input{conn: c, opened: true}) {
		c.ws.Close(websocket.StatusGoingAway, "the relay follows the match no more")
		return
	}
	done := make(chan struct{})
	writer := make(chan struct{})
	go func() {
		defer close(writer)
		c.write(done)
	}()
	status := c.read()
	close(done)
	c.mu.Lock()
	c.abortLocked()
	c.mu.Unlock()
	c.ws.Close(status, "") // does nothing if the other end closed
	<-writer
	c.abort.Stop()
}

// read posts messages from the socket to the match's inbox until the socket or the match ends.
func (c *conn) read() websocket.StatusCode {
	defer c.match.post(input{conn: c, closed: true})
	for {
		kind, r, err := c.ws.Reader(context.Background())
		if err != nil {
			return websocket.StatusProtocolError
		}
		if kind != websocket.MessageBinary {
			return websocket.StatusUnsupportedData
		}
		b := buffers.Get()
		if err := b.Fill(r); err != nil {
			buffers.Put(b)
			return websocket.StatusProtocolError
		}
		if !c.match.post(input{conn: c, data: b}) {
			return websocket.StatusGoingAway
		}
	}
}

// write sends the messages in out until the connection is closed.
func (c *conn) write(done <-chan struct{}) {
	var now []byte
	var ends []int
	for {
		select {
		case <-c.wake:
		case <-done:
			return
		case <-c.match.done:
			c.ws.Close(websocket.StatusGoingAway, "the relay follows the match no more")
			return
		}
		if now, ends = now[:0], ends[:0]; cap(now) > keepBuffer {
			now = nil
		}
		c.mu.Lock()
		now, c.out = c.out, now
		ends, c.ends = c.ends, ends
		c.mu.Unlock()
		from := 0
		for _, end := range ends {
			// A context with a timeout would allocate memory for each message. The audience finds stalled connections by their
			// missing acks.
			if c.ws.Write(context.Background(), websocket.MessageBinary, now[from:end]) != nil {
				c.ws.CloseNow()
				return
			}
			from = end
		}
		c.mu.Lock()
		ask := c.more && !c.requested
		c.requested = c.requested || ask
		over := c.closing && len(c.ends) == 0 && !c.more
		reason := c.reason
		c.mu.Unlock()
		if ask {
			c.match.post(input{conn: c})
		}
		if over {
			c.ws.Close(websocket.StatusNormalClosure, reason[:min(len(reason), 120)])
			return
		}
	}
}

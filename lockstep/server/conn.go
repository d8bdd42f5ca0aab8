package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// maxWrite is how many bytes are written to a socket at a time.
	maxWrite = protocol.MaxServerMessage

	// maxQueued is how many messages wait for a socket beside the one being
	// written. What more there is stays in the match's ring.
	maxQueued = 4

	// keepBuffer is how much memory a connection keeps for its next message.
	keepBuffer = 4 << 10

	// lastWords is how long a connection that is being closed may take to read
	// why.
	lastWords = 2 * time.Second
)

// buffers keeps the memory of messages, from a client's socket to its match.
var buffers = buffer.Pool{Keep: keepBuffer}

// A conn is one WebSocket. Its match's goroutine fills out, and its own writer
// sends that.
type conn struct {
	match   *Match
	ws      *websocket.Conn
	socket  net.Conn    // below ws
	frames  *frames     // between them
	id      host.PeerID // set by the match's goroutine
	addr    netip.Prefix
	subject string // of its token, since it was welcomed; empty if nobody vouches for it
	gone    bool   // the membership's

	wake chan struct{} // something of the following has changed

	mu      sync.Mutex
	out     outbox // to be written
	hungry  bool   // the match may have more, which did not fit
	asked   bool   // the match was told that it fits now, and has not come yet
	closing bool   // after out, close
	reason  string
	abort   *time.Timer // closes the socket if that takes too long
}

// read posts what comes from the socket into the match's inbox, until the
// socket or the match ends. It returns what is wrong with what came, for the
// close frame.
func (c *conn) read() websocket.StatusCode {
	defer c.match.post(input{conn: c, gone: true})
	for {
		// No context that can end: it would cost allocations for each message.
		// Who stays silent is found by the match, which closes the socket.
		kind, r, err := c.ws.Reader(context.Background())
		if err != nil {
			return closeStatus(err)
		}
		if kind != websocket.MessageBinary {
			return websocket.StatusUnsupportedData
		}
		b := buffers.Get()
		if err := b.Fill(r); err != nil {
			buffers.Put(b)
			return closeStatus(err)
		}
		if !c.match.post(input{conn: c, data: b}) {
			return websocket.StatusGoingAway
		}
	}
}

// closeStatus returns the status for a connection whose reading ended with err.
func closeStatus(err error) websocket.StatusCode {
	if errors.Is(err, errFrames) {
		return websocket.StatusPolicyViolation
	}
	return websocket.StatusProtocolError
}

// An outbox is a few messages, one after the other.
type outbox struct {
	b    []byte
	ends []int // of each message, in b
}

func (o *outbox) empty() bool { return len(o.ends) == 0 }

// clear forgets the messages, and a burst's memory.
func (o *outbox) clear() {
	o.b, o.ends = o.b[:0], o.ends[:0]
	if cap(o.b) > keepBuffer {
		o.b = nil
	}
}

// write sends what the match has for this connection, until it is closed.
func (c *conn) write(done <-chan struct{}) {
	var now outbox
	for {
		select {
		case <-c.wake:
		case <-done:
			return
		case <-c.match.done: // it ended before it took us
			c.ws.Close(websocket.StatusGoingAway, "the match is over")
			return
		}
		now.clear()
		c.mu.Lock()
		now, c.out = c.out, now
		c.mu.Unlock()
		if !c.send(&now) {
			c.ws.CloseNow()
			return
		}
		c.mu.Lock()
		ask := c.hungry && !c.asked
		c.asked = c.asked || ask
		over := c.closing && c.out.empty() && !c.hungry
		reason := c.reason
		c.mu.Unlock()
		if ask {
			c.match.post(input{conn: c})
		}
		if over {
			c.ws.Close(websocket.StatusNormalClosure, clipReason(reason))
			return
		}
	}
}

// send writes the messages of an outbox to the socket.
func (c *conn) send(o *outbox) bool {
	from := 0
	for _, end := range o.ends {
		// No timeout: a context with one costs allocations each time. A
		// connection that does not take its bytes is found by its acks.
		if c.ws.Write(context.Background(), websocket.MessageBinary, o.b[from:end]) != nil {
			return false
		}
		from = end
	}
	return true
}

// clipReason cuts a reason to what a WebSocket's close frame can hold, between
// characters: a browser takes a frame that is not UTF-8 for a broken connection.
func clipReason(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), 120)], "")
}

// feed takes from the host what it has for this connection. The match's
// goroutine calls it.
func (c *conn) feed(h *host.Host) {
	_, reason, closed := h.Closed(c.id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hungry, c.asked = true, false
	for len(c.out.ends) < maxQueued {
		before := len(c.out.b)
		c.out.b = h.Send(c.id, c.out.b, maxWrite)
		if len(c.out.b) == before {
			c.hungry = false
			break
		}
		c.out.ends = append(c.out.ends, len(c.out.b))
	}
	if closed {
		c.endLocked(reason)
	}
	if !c.out.empty() || c.closing {
		c.wakeUp()
	}
}

func (c *conn) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// end lets the writer close the socket, after what is in out. It does not wait:
// closing a socket can take seconds.
func (c *conn) end(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hungry = false
	c.endLocked(reason)
	c.wakeUp()
}

func (c *conn) endLocked(reason string) {
	if !c.closing {
		c.closing, c.reason = true, reason
		c.frames.closing.Store(true)
		c.abortLocked()
	}
}

// abortLocked closes the socket after a while, if it is not closed by then: the
// closing handshake of a WebSocket can take longer, and who does not read does
// not answer.
func (c *conn) abortLocked() {
	if c.abort == nil {
		c.abort = time.AfterFunc(lastWords, func() { c.socket.Close() })
	}
}

// play upgrades a request to the match's WebSocket and serves it.
func (s *Server) play(w http.ResponseWriter, r *http.Request) {
	m := s.match(r.PathValue("name"))
	if m == nil {
		http.Error(w, "no such match", http.StatusNotFound)
		return
	}
	from := of(r.RemoteAddr)
	socket := &hijacked{ResponseWriter: w, server: s, from: from}
	ws, err := websocket.Accept(socket, r, &websocket.AcceptOptions{
		Subprotocols:    []string{Subprotocol},
		OriginPatterns:  s.options.Origins,
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		s.metrics.turned.WithLabelValues("handshake").Inc()
		return // Accept has answered
	}
	defer ws.CloseNow()
	if ws.Subprotocol() != Subprotocol {
		s.metrics.turned.WithLabelValues("subprotocol").Inc()
		ws.Close(websocket.StatusPolicyViolation, "want the subprotocol "+Subprotocol)
		return
	}
	ws.SetReadLimit(protocol.MaxAuthMessage)
	c := &conn{match: m, ws: ws, socket: socket.conn, frames: socket.frames, addr: from, wake: make(chan struct{}, 1)}
	s.upgraded(socket.conn)
	if s.entrance.enter(c, s.options.MaxUnauthenticated) {
		s.metrics.turned.WithLabelValues("crowd").Inc()
	}
	defer s.entrance.leave(c)
	defer s.watchers.leave(c)
	defer s.members.leave(c)
	if !m.post(input{conn: c, came: true}) {
		ws.Close(websocket.StatusGoingAway, "the match is over")
		return
	}
	c.serve()
}

// serve reads and writes until the socket is closed.
func (c *conn) serve() {
	done := make(chan struct{})
	writer := make(chan struct{})
	go func() {
		defer close(writer)
		c.write(done)
	}()
	wrong := c.read()
	close(done)
	c.mu.Lock()
	c.abortLocked()
	c.mu.Unlock()
	c.ws.Close(wrong, "") // does nothing if the other end closed
	<-writer
	c.abort.Stop()
}

// welcomed allows larger messages: the peer has authenticated. A spectator, who has no
// seat, takes the place of another one where there are too many. One connection more
// than its address may have closes one.
func (c *conn) welcomed(seat lockstep.Player, subject string) {
	s := c.match.server
	c.ws.SetReadLimit(protocol.MaxClientMessage)
	s.entrance.leave(c)
	if seat == lockstep.System && s.watchers.enter(c, s.watchers.all) {
		s.metrics.turned.WithLabelValues("crowd").Inc()
	}
	c.subject = subject
	victim := s.members.enter(c)
	if victim == nil {
		return
	}
	s.metrics.turned.WithLabelValues("address").Inc()
	if victim == c {
		c.end("too many connections from your address")
	} else {
		victim.drop()
	}
}

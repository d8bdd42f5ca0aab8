package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

const (
	// maxWrite is the largest message that is written to a socket, in bytes.
	maxWrite = protocol.MaxServerMessage

	// maxQueued is the number of messages that wait for a socket, besides the one being written. Others stay in the
	// match's ring.
	maxQueued = 4

	// keepBuffer is the memory that a connection keeps for its next message, in bytes.
	keepBuffer = 4 << 10

	// closeTimeout is the time that a closing connection has to read the reason.
	closeTimeout = 2 * time.Second
)

// buffers reuses the memory of messages between a client's socket and its match.
var buffers = buffer.Pool{Keep: keepBuffer}

// A conn is a WebSocket. The goroutine of its match fills out, and its own writer sends it.
type conn struct {
	match   *Match
	ws      *websocket.Conn
	socket  net.Conn    // below ws
	frames  *frameConn  // between them
	id      host.PeerID // set by the match's goroutine
	due     bool        // in the match's list of that name; used by its goroutine only
	addr    netip.Prefix
	remote  string    // the client's address, for the log
	subject string    // of its token, once it is authenticated; "" for guests and spectators without a token
	closed  bool      // guarded by the server's addressLimit
	syncing time.Time // when a keyframe began to be sent; zero without one; used by the match's goroutine only

	wake chan struct{} // one of the following fields has changed

	mu        sync.Mutex
	out       outbox // to be written
	more      bool   // the match may have more, which did not fit
	requested bool   // the match was asked for it, and has not answered
	closing   bool   // close after out is written
	reason    string
	abort     *time.Timer // closes the socket after closeTimeout
}

// read posts messages from the socket to the match's inbox until the socket or the match ends. It returns the status for
// the close frame.
func (c *conn) read() websocket.StatusCode {
	defer c.match.post(input{conn: c, closed: true})
	for {
		// A context with an end would allocate memory for each message. The match finds silent clients, and closes
		// their sockets.
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

// An outbox is a queue of messages.
type outbox struct {
	b    []byte
	ends []int // of each message, in b
}

func (o *outbox) empty() bool { return len(o.ends) == 0 }

// clear removes the messages, and frees memory above keepBuffer.
func (o *outbox) clear() {
	o.b, o.ends = o.b[:0], o.ends[:0]
	if cap(o.b) > keepBuffer {
		o.b = nil
	}
}

// write sends the messages in out until the connection is closed.
func (c *conn) write(done <-chan struct{}) {
	var now outbox
	for {
		select {
		case <-c.wake:
		case <-done:
			return
		case <-c.match.done: // it ended before it took this connection
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
		ask := c.more && !c.requested
		c.requested = c.requested || ask
		over := c.closing && c.out.empty() && !c.more
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
		// A context with a timeout would allocate memory for each message. The match finds stalled connections by
		// their missing acks.
		if c.ws.Write(context.Background(), websocket.MessageBinary, o.b[from:end]) != nil {
			return false
		}
		from = end
	}
	return true
}

// feed moves messages for this connection from the host to out. The match's goroutine calls it.
func (c *conn) feed(h *host.Host) {
	_, reason, closed := h.Closed(c.id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.more, c.requested = true, false
	for len(c.out.ends) < maxQueued {
		before := len(c.out.b)
		c.out.b = h.Send(c.id, c.out.b, maxWrite)
		if len(c.out.b) == before {
			c.more = false
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

// end makes the writer close the socket when out is written. It does not wait, because closing a socket can take
// seconds.
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
		c.frames.closing.Store(true)
		c.abortLocked()
	}
}

// abortLocked closes the socket after closeTimeout: the closing handshake of a WebSocket can take longer, and a client
// that does not read never answers.
func (c *conn) abortLocked() {
	if c.abort == nil {
		c.abort = time.AfterFunc(closeTimeout, func() { c.socket.Close() })
	}
}

// play upgrades a request to the match's WebSocket and serves it.
func (s *Server) play(w http.ResponseWriter, r *http.Request) {
	wait, recovering := s.recovering(r.PathValue("name"))
	var m *Match
	if !recovering {
		if m = s.requested(w, r); m == nil {
			return
		}
	}
	from := addressOf(r.RemoteAddr)
	socket := &hijacker{ResponseWriter: &foreignErrors{ResponseWriter: w}, budgets: s.frames, from: from}
	ws, err := websocket.Accept(socket, r, &websocket.AcceptOptions{
		Subprotocols:    []string{Subprotocol},
		OriginPatterns:  s.options.Origins,
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		s.turnedAway("handshake", r.RemoteAddr)
		return // Accept has answered
	}
	if ws.Subprotocol() != Subprotocol {
		s.turnedAway("subprotocol", r.RemoteAddr)
		ws.Close(websocket.StatusPolicyViolation, "want the subprotocol "+Subprotocol)
		return
	}
	ws.SetReadLimit(protocol.MaxAuthMessage)
	c := &conn{match: m, ws: ws, socket: socket.conn, frames: socket.frames, addr: from, remote: clientText(r.RemoteAddr), wake: make(chan struct{}, 1)}
	markUpgraded(socket.conn)
	if s.unauthenticated.add(c, s.options.MaxUnauthenticated) {
		s.turnedAway("crowd", r.RemoteAddr)
	}
	go s.serveConn(c, wait) // the HTTP server's goroutine would keep its request and a large stack
}

// serveConn serves a connection to its match, or tells it to come back later if that is recovering.
func (s *Server) serveConn(c *conn, wait time.Duration) {
	defer c.ws.CloseNow()
	defer s.unauthenticated.remove(c)
	defer s.spectators.remove(c)
	defer s.authenticated.remove(c)
	if c.match == nil {
		c.mu.Lock()
		c.abortLocked()
		c.mu.Unlock()
		turnAway(c.ws, wait)
		c.abort.Stop()
		return
	}
	if !c.match.post(input{conn: c, opened: true}) {
		c.ws.Close(websocket.StatusGoingAway, "the match is over")
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
	status := c.read()
	close(done)
	c.mu.Lock()
	c.abortLocked()
	c.mu.Unlock()
	c.ws.Close(status, "") // does nothing if the other end closed
	<-writer
	c.abort.Stop()
}

// welcomed notes that the peer has authenticated: its messages may be larger, and other limits apply. It closes a
// connection where these are exceeded.
func (c *conn) welcomed(seat lockstep.Player, subject string) {
	s := c.match.server
	c.ws.SetReadLimit(protocol.MaxClientMessage)
	s.unauthenticated.remove(c)
	if seat == lockstep.System && s.spectators.add(c, s.spectators.max) {
		s.turnedAway("crowd", c.remote)
	}
	c.subject = subject
	victim := s.authenticated.add(c)
	if victim == nil {
		return
	}
	s.turnedAway("address", c.remote)
	if victim == c {
		c.end("too many connections from your address")
	} else {
		victim.drop()
	}
}

func (c *conn) from() netip.Prefix { return c.addr }

// drop closes the socket at once. A closing handshake would keep its place occupied.
func (c *conn) drop() {
	belowTLS(c.socket).Close() // TLS would wait to write its alert
}

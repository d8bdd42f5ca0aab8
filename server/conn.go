package server

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
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
)

// A conn is a WebSocket of a match.
type conn struct {
	*wsmatch.Conn
	match   *Match
	ws      *websocket.Conn
	socket  net.Conn    // below ws
	frames  *frameConn  // between them
	id      host.PeerID // set by the match's goroutine
	due     bool        // in the match's list of that name; used by its goroutine only
	addr    netip.Prefix
	agent   string          // the name that the client's program gives itself
	remote  string          // the client's address, for the log
	session string          // its id
	logger  *slog.Logger    // with the match and the session
	seat    lockstep.Player // System for a spectator, and before the welcome; used by the match's goroutine only
	subject string          // of its token, once it is authenticated; "" for guests and spectators without a token
	closed  bool            // guarded by the server's addressLimit
	path    *path           // of its datagrams, or nil; used by the match's goroutine only
	syncing time.Time       // when a keyframe began to be sent; zero without one; used by the match's goroutine only
}

// Received implements [wsmatch.Match].
func (c *conn) Received(b *buffer.Buffer) bool { return c.match.post(input{conn: c, data: b}) }

// More implements [wsmatch.Match].
func (c *conn) More() bool { return c.match.post(input{conn: c}) }

// Closed implements [wsmatch.Match].
func (c *conn) Closed() bool { return c.match.post(input{conn: c, closed: true}) }

// Next implements [wsmatch.Match].
func (c *conn) Next(dst []byte) []byte { return c.match.host.Send(c.id, dst, maxWrite) }

// feed moves messages from the host to the socket. The match's goroutine calls it.
func (c *conn) feed() {
	_, reason, closed := c.match.host.Closed(c.id)
	if c.path != nil {
		c.feedDatagrams()
	}
	c.Feed()
	if closed {
		c.Finish(reason)
	}
}

// feedDatagrams sends the datagrams that the match has.
func (c *conn) feedDatagrams() {
	for {
		b := buffers.Get()
		if b.Bytes = c.match.host.SendDatagram(c.id, b.Bytes[:0]); len(b.Bytes) == 0 {
			buffers.Put(b)
			return
		}
		select {
		case c.path.out <- b:
		default: // lost: the network takes less
			buffers.Put(b)
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

// play upgrades a request to the match's WebSocket and serves it.
func (s *Server) play(w http.ResponseWriter, r *http.Request) {
	wait, recovering := s.registry.recovering(r.PathValue("name"))
	var m *Match
	if !recovering {
		if m = s.registry.requested(w, r); m == nil {
			return
		}
	}
	from := wsmatch.AddressOf(r.RemoteAddr)
	session := logged.SessionOf(r)
	log := logged.Session(s.registry.logOf(r.PathValue("name")), session)
	socket := &hijacker{ResponseWriter: &foreignErrors{ResponseWriter: w}, budgets: s.gates.frames, from: from}
	ws, err := websocket.Accept(socket, r, &websocket.AcceptOptions{
		Subprotocols:    []string{Subprotocol},
		OriginPatterns:  s.options.Origins,
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		s.turned.awayFrom(log, "handshake", r.RemoteAddr)
		return // Accept has answered
	}
	if ws.Subprotocol() != Subprotocol {
		s.turned.awayFrom(log, "subprotocol", r.RemoteAddr)
		ws.Close(websocket.StatusPolicyViolation, "want the subprotocol "+Subprotocol)
		return
	}
	ws.SetReadLimit(protocol.MaxAuthMessage)
	c := &conn{match: m, ws: ws, socket: socket.conn, frames: socket.frames, addr: from, remote: clientText(r.RemoteAddr), session: session, logger: log, seat: lockstep.System, agent: wsmatch.Clip(r.UserAgent())}
	o := wsmatch.Options{Match: c, Socket: socket.conn, Buffers: &buffers, Queue: maxQueued, Keep: keepBuffer, OverText: "the match is over", Status: closeStatus}
	o.Closing = func() { c.frames.closing.Store(true) }
	if m != nil {
		o.Over = m.done
	}
	c.Conn = wsmatch.New(ws, o)
	markUpgraded(socket.conn)
	// Who has shown a token already is not pushed out by silent ones.
	in, each := s.gates.unauthenticated, s.gates.limits.Load().MaxUnauthenticated
	if in.Crowded(from, each) && s.access.reserved(r, from) {
		in, each = s.gates.reserved, maxOnTrial
	}
	if in.Add(c, each) {
		s.turned.awayFrom(log, "crowd", r.RemoteAddr)
	}
	go s.serveConn(c, wait) // the HTTP server's goroutine would keep its request and a large stack
}

// serveConn serves a connection to its match, or tells it to come back later if that is recovering.
func (s *Server) serveConn(c *conn, wait time.Duration) {
	defer c.ws.CloseNow()
	defer s.gates.leave(c)
	if c.match == nil {
		defer c.Abort()()
		turnAway(c.ws, wait)
		return
	}
	if !c.match.post(input{conn: c, opened: true}) {
		c.ws.Close(websocket.StatusGoingAway, "the match is over")
		return
	}
	c.Serve()
}

// welcomed notes that the peer has authenticated: its messages may be larger, and other limits apply. It closes a
// connection where these are exceeded.
func (c *conn) welcomed(seat lockstep.Player, subject string) {
	g := c.match.server.gates
	c.ws.SetReadLimit(protocol.MaxClientMessage)
	g.unauthenticated.Remove(c)
	g.reserved.Remove(c)
	if seat == lockstep.System && g.spectators.Add(c, g.descriptors) {
		c.turnedAway("crowd")
	}
	c.seat, c.subject = seat, subject
	victim := g.authenticated.add(c)
	if victim == nil {
		return
	}
	c.turnedAway("address")
	if victim == c {
		c.End("too many connections from your address")
	} else {
		victim.Drop()
	}
}

// turnedAway is that of the server for a connection to a match.
func (c *conn) turnedAway(reason string) { c.match.server.turned.awayFrom(c.logger, reason, c.remote) }

// From implements [crowd.Conn].
func (c *conn) From() netip.Prefix { return c.addr }

// Drop implements [crowd.Conn]: it closes the socket at once. A closing handshake would keep its place occupied.
func (c *conn) Drop() {
	belowTLS(c.socket).Close() // TLS would wait to write its alert
}

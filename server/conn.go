package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/webtransport-go"
	"golang.org/x/time/rate"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/server/internal/allowance"
	"github.com/seed-49bee653/samestep/server/internal/crowd"
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

func (c *conn) Received(b *buffer.Buffer) bool { return c.match.post(input{conn: c, data: b}) }

func (c *conn) More() bool { return c.match.post(input{conn: c}) }

func (c *conn) Closed() bool { return c.match.post(input{conn: c, closed: true}) }

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
	o := wsmatch.Options{Match: c, Socket: socket.conn, Buffers: &buffers, Queue: maxQueued, Keep: keepBuffer, OverText: "the match is over", Status: func(err error) websocket.StatusCode {
		return map[bool]websocket.StatusCode{true: websocket.StatusPolicyViolation, false: websocket.StatusProtocolError}[errors.Is(err, errFrames)]
	}}
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

func (c *conn) From() netip.Prefix { return c.addr }

// Drop implements [crowd.Conn]: it closes the socket at once. A closing handshake would keep its place occupied.
func (c *conn) Drop() {
	belowTLS(c.socket).Close() // TLS would wait to write its alert
}

// connect adds a new connection to the match. The match's goroutine calls it.
func (m *Match) connect(c *conn) {
	if len(m.connecting) >= m.maxConnecting {
		m.evict(crowd.OldestOfFullest(m.connecting))
	}
	id, ok := m.host.Connect(m.now(), c.addr.String())
	if !ok && m.evictClosed() { // connections that are still closing occupied the places
		id, ok = m.host.Connect(m.now(), c.addr.String())
	}
	if !ok {
		c.End("the match is full")
		return
	}
	c.id = id
	m.conns[id] = c
	m.connecting = append(m.connecting, c)
}

// evict ends a connection without waiting for its socket.
func (m *Match) evict(c *conn) {
	c.turnedAway("crowd")
	m.host.Disconnect(m.now(), c.id)
	delete(m.conns, c.id)
	m.connecting = crowd.Without(m.connecting, c)
	c.id = 0
	c.Drop()
}

// evictClosed evicts the oldest connection that the host has closed and whose socket is still open. It reports false
// if there is none.
func (m *Match) evictClosed() bool {
	var oldest *conn
	for id, c := range m.conns {
		if _, _, closed := m.host.Closed(id); closed && (oldest == nil || id < oldest.id) {
			oldest = c
		}
	}
	if oldest != nil {
		m.evict(oldest)
	}
	return oldest != nil
}

const (
	// maxUnnamedPaths is the number of paths of a server that have not named their connection.
	maxUnnamedPaths = 256

	// maxPathQueue is the number of datagrams that wait for a path. Others are lost.
	maxPathQueue = 8
)

// Codes of a closed QUIC connection. Those of HTTP/3 begin at 0x100.
const (
	pathUnbound quic.ApplicationErrorCode = iota + 0x10 // no connection of the match has the session
	pathClosed                                          // the connection has another path, or is closed
	pathCrowd                                           // too many connections that have not named theirs
)

// A path is a QUIC connection with one WebTransport session, which carries the datagrams of a match's connection.
type path struct {
	quic    *quic.Conn
	addr    netip.Prefix
	used    atomic.Bool           // its one request has come
	session *webtransport.Session // nil before
	out     chan *buffer.Buffer   // to be sent

	bindTimer *time.Timer // closes it if it does not name its connection
}

func (p *path) From() netip.Prefix { return p.addr }

func (p *path) Drop() { go p.quic.CloseWithError(pathCrowd, "too many connections") } // it may wait

// close closes the path of a connection that is closed, or has another one. It may be nil.
func (p *path) close() {
	if p != nil {
		go p.quic.CloseWithError(pathClosed, "") // it may wait
	}
}

// write sends datagrams until the path is closed.
func (p *path) write() {
	for {
		select {
		case b := <-p.out:
			p.session.SendDatagram(b.Bytes) // one that is too large for the network is lost
			buffers.Put(b)
		case <-p.session.Context().Done():
			return
		}
	}
}

// keepBuffer is the memory that a connection keeps for its next message, in bytes.
const keepBuffer = 4 << 10

// buffers reuses the memory of messages between a client's socket and its match.
var buffers = buffer.Pool{Keep: keepBuffer}

const (
	// maxExtraFrames is the number of extra frames (see frameConn) that a connection may send in a second.
	maxExtraFrames = 20

	// extraFramesAtOnce is the burst of maxExtraFrames. A new connection takes it from the budget of its address, so
	// reconnecting does not restore it.
	extraFramesAtOnce = 60

	// maxAddressFrames is the number of extra frames that the new connections of an address get in a minute.
	maxAddressFrames = 8 * extraFramesAtOnce

	// fewExtraFrames is the burst that every new connection has: the frame that closes it, and some more.
	fewExtraFrames = 4

	// maxClosingBytes is the number of bytes read from a closing connection: data in flight, and the answer to the
	// close frame.
	maxClosingBytes = 64 << 10

	// freeFragment is the size from which a fragment is not an extra frame; the match counts its bytes.
	freeFragment = 1 << 10
)

// errFrames ends a connection that sends too many frames.
var errFrames = errors.New("server: too many control frames or small fragments")

// A frameConn is the connection below a WebSocket. It limits the extra frames: pings, pongs, and continuation frames
// that are short and do not end their message. The match limits messages.
type frameConn struct {
	net.Conn
	extra *rate.Limiter
	early []byte // read together with the handshake

	header [14]byte // of the next frame
	have   int      // bytes in header
	skip   uint64   // bytes left of the payload
	failed bool

	closing atomic.Bool
	late    int // bytes read since closing was set
}

// newFrameConn returns a frameConn with the given number of extra frames as its burst.
func newFrameConn(c net.Conn, atOnce int) *frameConn {
	f := &frameConn{Conn: c, extra: rate.NewLimiter(maxExtraFrames, extraFramesAtOnce)}
	f.extra.AllowN(time.Now(), extraFramesAtOnce-atOnce)
	return f
}

func (f *frameConn) Read(b []byte) (int, error) {
	if f.failed {
		return 0, errFrames
	}
	n, err := copy(b, f.early), error(nil)
	if f.early = f.early[n:]; n == 0 {
		n, err = f.Conn.Read(b)
	}
	if f.closing.Load() {
		if f.late += n; f.late > maxClosingBytes {
			f.failed = true
		}
	}
	if f.count(b[:n]); f.failed {
		return 0, errFrames
	}
	return n, err
}

// count parses received bytes, and sets failed if there were too many extra frames.
func (f *frameConn) count(b []byte) {
	for len(b) > 0 && !f.failed {
		if f.skip > 0 {
			n := min(f.skip, uint64(len(b)))
			f.skip, b = f.skip-n, b[n:]
			continue
		}
		f.header[f.have], b = b[0], b[1:]
		if f.have++; f.have < headerSize(f.header[1], f.have) {
			continue
		}
		f.skip, f.have = payloadSize(&f.header), 0
		control, fin, first := f.header[0]&8 != 0, f.header[0]&0x80 != 0, f.header[0]&0xf != 0
		if control || !fin && !first && f.skip < freeFragment {
			f.failed = !f.extra.AllowN(time.Now(), 1)
		}
	}
}

// headerSize returns the size of a frame's header, as far as have bytes of it tell, where b is the second byte
// (RFC 6455, section 5.2).
func headerSize(b byte, have int) int {
	size := 2
	if have < size {
		return size
	}
	switch b & 0x7f {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	if b&0x80 != 0 {
		size += 4 // the mask
	}
	return size
}

// payloadSize returns the payload's size in a header.
func payloadSize(h *[14]byte) uint64 {
	switch n := h[1] & 0x7f; n {
	case 126:
		return uint64(binary.BigEndian.Uint16(h[2:]))
	case 127:
		return binary.BigEndian.Uint64(h[2:])
	default:
		return uint64(n)
	}
}

// A hijacker is a ResponseWriter that keeps the hijacked connection.
type hijacker struct {
	http.ResponseWriter
	budgets *allowance.Table[netip.Prefix] // of extra frames
	from    netip.Prefix

	conn   net.Conn
	frames *frameConn
}

// Hijack implements http.Hijacker. It returns a frameConn, which also counts the frames that the HTTP server has read.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.conn = c
	f := newFrameConn(c, fewExtraFrames+h.budgets.UpTo(h.from, extraFramesAtOnce-fewExtraFrames, time.Now()))
	h.frames = f
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	f.early = bytes.Clone(early)
	rw.Reader.Reset(f)
	return f, rw, nil
}

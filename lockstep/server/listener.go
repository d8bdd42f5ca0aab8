package server

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

const (
	// maxSockets is how many connections a server has that are no WebSockets. The
	// rest of its file descriptors is for players.
	maxSockets = 512

	// connectsAtOnce is how many connections an address may open at once, and connectSpan
	// the time over which they come back: as many times Options.MaxPerAddress, and as
	// many seconds. Each costs a handshake, whatever limit it meets then.
	connectsAtOnce = 4
	connectSpan    = connectsAtOnce * time.Second

	// leastConnects is the least that Options.MaxPerAddress counts for these: a page
	// needs several connections, and each refusal ends one.
	leastConnects = 64

	// maxSent is how many bytes a second one address is sent over them.
	maxSent = 8 << 20

	// leastSent is what a write counts at least, since an answer without content costs a
	// processor as much as one with a little.
	leastSent = 4 << 10

	// sentAtOnce is how many of these bytes wait for their turn together.
	sentAtOnce = 32 << 10
)

// Listener returns l with limits on connections that are not, or not yet, WebSockets
// of a match: Options.MaxPerAddress of one address, and 512 or a quarter of
// Options.Descriptors of all. At a limit the address with most of them loses its
// oldest, so that a new one is always accepted. An address that opens more than four
// times Options.MaxPerAddress at once, and then more than Options.MaxPerAddress a
// second, is not heard; 64 counts at least. None of this counts for Options.TrustedProxies,
// except the limit of all. A listener for TLS goes around it.
func (s *Server) Listener(l net.Listener) net.Listener { return &listener{l, s} }

type listener struct {
	net.Listener
	server *Server
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	s := l.server
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		remote := c.RemoteAddr().String()
		x := &socket{Conn: c, server: s, addr: of(remote)}
		each := s.options.MaxPerAddress
		if s.isProxy(remote) {
			each = s.sockets.all
		} else if x.payer.Store(&x.addr); !s.connects.spend(x.addr, 1, time.Now()) {
			s.metrics.turned.WithLabelValues("connecting").Inc()
			hangUp(c)
			continue
		}
		if s.sockets.enter(x, each) {
			s.metrics.turned.WithLabelValues("socket").Inc()
		}
		return x, nil
	}
}

// hangUp closes a connection and leaves nothing of it in the system.
func hangUp(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		// It matters to the system's memory only.
		_ = t.SetLinger(0)
	}
	c.Close()
}

// A socket is an accepted connection.
type socket struct {
	net.Conn
	server *Server
	addr   netip.Prefix
	payer  atomic.Pointer[netip.Prefix] // of the bytes that are sent; nil for none
	known  atomic.Bool                  // a WebSocket, which has limits of its own
}

func (x *socket) from() netip.Prefix { return x.addr }
func (x *socket) drop()              { x.Conn.Close() }

// Close implements [net.Conn].
func (x *socket) Close() error {
	x.server.sockets.leave(x)
	return x.Conn.Close()
}

// Write implements [net.Conn]. It takes its time where the address has been sent much.
func (x *socket) Write(b []byte) (n int, err error) {
	for !x.known.Load() && len(b)-n > 0 {
		part := b[n:min(len(b), n+sentAtOnce)]
		if p := x.payer.Load(); p != nil {
			time.Sleep(x.server.sent.wait(*p, max(len(part), leastSent), time.Now()))
		}
		wrote, err := x.Conn.Write(part)
		if n += wrote; err != nil || n == len(b) {
			return n, err
		}
	}
	rest, err := x.Conn.Write(b[n:])
	return n + rest, err
}

// upgraded takes a WebSocket out of the limits of sockets.
func (s *Server) upgraded(c net.Conn) {
	if x, ok := belowTLS(c).(*socket); ok {
		x.known.Store(true)
		s.sockets.leave(x)
	}
}

func belowTLS(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
}

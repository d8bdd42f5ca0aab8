package server

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

const (
	// maxSockets is the number of a server's connections that are not WebSockets.
	maxSockets = 512

	// An address may open connectsAtOnce times Options.MaxPerAddress connections at once. This budget refills in
	// connectPeriod. Each connection costs a handshake, also if a later limit closes it.
	connectsAtOnce = 4
	connectPeriod  = connectsAtOnce * time.Second

	// leastConnects is the least value of Options.MaxPerAddress for this budget: a page needs several connections,
	// and each refusal closes one.
	leastConnects = 64

	// maxSent is the number of bytes in a second that one address is sent over them.
	maxSent = 8 << 20

	// leastSent is the least that a write counts, because an empty answer costs as much CPU time as a short one.
	leastSent = 4 << 10

	// sentAtOnce is the number of bytes that a socket writes before it waits for the budget again.
	sentAtOnce = 32 << 10
)

// Listener returns l with limits on connections that are not, or not yet, WebSockets of a match: Options.MaxPerAddress
// of one address, and 512 or a quarter of Options.Descriptors in all. At a limit the oldest connection of the address
// that has most is closed, so a new one is always accepted.
//
// An address may open four times Options.MaxPerAddress (at least 64) connections at once, and then Options.MaxPerAddress
// a second; others are closed at once. Only the limit of all connections applies to Options.TrustedProxies. A TLS
// listener wraps this one.
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
		x := &socket{Conn: c, server: s, addr: addressOf(remote)}
		each := s.options.MaxPerAddress
		if s.isProxy(remote) {
			each = s.sockets.max
		} else if x.charged.Store(&x.addr); !s.connects.spend(x.addr, 1, time.Now()) {
			s.metrics.refused.WithLabelValues("connecting").Inc()
			closeWithReset(c)
			continue
		}
		if s.sockets.add(x, each) {
			s.metrics.refused.WithLabelValues("socket").Inc()
		}
		return x, nil
	}
}

// closeWithReset closes a connection so that the system keeps no memory of it.
func closeWithReset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0) // an error costs the system some memory only
	}
	c.Close()
}

// A socket is an accepted connection.
type socket struct {
	net.Conn
	server      *Server
	addr        netip.Prefix
	charged     atomic.Pointer[netip.Prefix] // the address whose budget the sent bytes spend; nil for none
	isWebSocket atomic.Bool                  // WebSockets have their own limits
}

func (x *socket) from() netip.Prefix { return x.addr }
func (x *socket) drop()              { x.Conn.Close() }

// Close implements [net.Conn].
func (x *socket) Close() error {
	x.server.sockets.remove(x)
	return x.Conn.Close()
}

// Write implements [net.Conn]. It waits while the address has no budget left.
func (x *socket) Write(b []byte) (n int, err error) {
	for !x.isWebSocket.Load() && len(b)-n > 0 {
		part := b[n:min(len(b), n+sentAtOnce)]
		if p := x.charged.Load(); p != nil {
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

// markUpgraded removes a WebSocket from the limits of sockets.
func (s *Server) markUpgraded(c net.Conn) {
	if x, ok := belowTLS(c).(*socket); ok {
		x.isWebSocket.Store(true)
		s.sockets.remove(x)
	}
}

func belowTLS(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
}

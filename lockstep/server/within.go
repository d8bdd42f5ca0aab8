package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Dial connects to the server from within its program, such as for bots that it
// plays with itself: an http.Transport's DialContext can call it. Each connection
// has an address of its own, so it takes nothing from the limits of those who come
// over the network. Everything else, also tokens, is as for them.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	s.within.once.Do(func() { go s.within.server.Serve(&s.within) })
	ours, theirs := net.Pipe()
	select {
	case s.within.conns <- &innerConn{theirs, s.within.made.Add(1)}:
		return ours, nil
	case <-s.within.closed:
		return nil, ErrShutdown
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// An innerConn is a connection from within, with its number.
type innerConn struct {
	net.Conn
	number uint32
}

// RemoteAddr implements net.Conn: an address for documentation (RFC 3849), which
// nobody has, in a block of 64 bits for each connection; see of.
func (c *innerConn) RemoteAddr() net.Addr {
	n := c.number
	a := netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 1))
}

// An inside listens to the program that it is in.
type inside struct {
	server *http.Server
	once   sync.Once // until server serves
	made   atomic.Uint32
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func (s *Server) newInside() {
	closed := make(chan struct{})
	s.within.conns, s.within.closed, s.within.close = make(chan net.Conn), closed, sync.OnceFunc(func() { close(closed) })
	s.within.server = HTTPServer("", s)
}

// Accept implements net.Listener.
func (l *inside) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *inside) Close() error {
	l.close()
	return nil
}

// Addr implements net.Listener.
func (l *inside) Addr() net.Addr { return &net.UnixAddr{Name: "within", Net: "unix"} }

package server

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
)

// A pipeConn is the server's end of a connection that Dial made.
type pipeConn struct {
	net.Conn
	number uint32
}

// RemoteAddr implements net.Conn. Each connection has its own 64 bits (see addressOf) of the addresses that RFC 3849
// reserves for documentation.
func (c *pipeConn) RemoteAddr() net.Addr {
	n := c.number
	a := netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 1))
}

// A pipeListener accepts the connections that Dial makes.
type pipeListener struct {
	server *http.Server
	once   sync.Once // starts server
	made   atomic.Uint32
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func newPipeListener(h *http.Server) *pipeListener {
	closed := make(chan struct{})
	return &pipeListener{server: h, conns: make(chan net.Conn), closed: closed, close: sync.OnceFunc(func() { close(closed) })}
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	l.close()
	return nil
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "within", Net: "unix"} }

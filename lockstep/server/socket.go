package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

const (
	// maxSent is the number of bytes in a second that one address is sent over connections that are not WebSockets.
	maxSent = 8 << 20

	// leastSent is the least that a write counts, because an empty answer costs as much CPU time as a short one.
	leastSent = 4 << 10

	// sentAtOnce is the number of bytes that a socket writes before it waits for the budget again.
	sentAtOnce = 32 << 10
)

// A socket is an accepted connection.
type socket struct {
	net.Conn
	open        *connLimit[*socket] // the server's
	sent        *budgets[netip.Prefix]
	addr        netip.Prefix
	charged     atomic.Pointer[netip.Prefix] // the address whose budget the sent bytes spend; nil for none
	isWebSocket atomic.Bool                  // WebSockets have their own limits
}

func (x *socket) from() netip.Prefix { return x.addr }

func (x *socket) drop() { x.Conn.Close() }

// Close implements [net.Conn].
func (x *socket) Close() error {
	x.open.remove(x)
	return x.Conn.Close()
}

// Write implements [net.Conn]. It waits while the address has no budget left.
func (x *socket) Write(b []byte) (n int, err error) {
	for !x.isWebSocket.Load() && len(b)-n > 0 {
		part := b[n:min(len(b), n+sentAtOnce)]
		if p := x.charged.Load(); p != nil {
			time.Sleep(x.sent.wait(*p, max(len(part), leastSent), time.Now()))
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
func markUpgraded(c net.Conn) {
	if x, ok := belowTLS(c).(*socket); ok {
		x.isWebSocket.Store(true)
		x.open.remove(x)
	}
}

func belowTLS(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
}

// socketKey is the context key of a request's [socket].
type socketKey struct{}

func withSocket(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, socketKey{}, belowTLS(c))
}

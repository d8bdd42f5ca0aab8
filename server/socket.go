package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/server/internal/allowance"
	"github.com/seed-49bee653/samestep/server/internal/crowd"
)

const (
	// maxSent is the number of bytes in a second that one address is sent over connections that are not WebSockets.
	maxSent = 8 << 20

	// leastSent is the least that a write counts, because an empty answer costs as much CPU time as a short one.
	leastSent = 4 << 10

	// sentAtOnce is the number of bytes that a socket writes before it waits for the budget again.
	sentAtOnce = 32 << 10
)

// errTrial ends a connection on trial that is not listened to. After an error of this type the HTTP server does not answer.
var errTrial error = &net.OpError{Op: "read", Err: errors.New("server: too many connections from this address")}

// A gate decides about connections on trial: those beyond the budget of their address.
type gate interface {
	hear(*socket) bool                                      // the connection has sent something; false ends it
	admit(*socket, http.ResponseWriter, *http.Request) bool // its first request; false if the gate has answered
}

// A socket is an accepted connection.
type socket struct {
	net.Conn
	sent        *allowance.Table[netip.Prefix]
	addr        netip.Prefix
	proxy       bool                         // only the limit of all connections applies
	charged     atomic.Pointer[netip.Prefix] // the address whose budget the sent bytes spend; nil for none
	isWebSocket atomic.Bool                  // WebSockets have their own limits

	gate  gate        // of a connection that began on trial, or nil
	trial atomic.Bool // it is on trial
	heard atomic.Bool // it has sent something on trial
	known atomic.Bool // to an [HTTPServer]

	mu     sync.Mutex
	in     *crowd.Limit[*socket] // that counts it, or nil
	closed bool
}

// From implements [crowd.Conn].
func (x *socket) From() netip.Prefix { return x.addr }

// Drop implements [crowd.Conn].
func (x *socket) Drop() {
	if x.trial.Load() {
		x.resetOnClose()
	}
	x.Conn.Close()
}

// resetOnClose makes the system keep no memory of the connection once it is closed.
func (x *socket) resetOnClose() {
	if t, ok := belowHeader(x.Conn).(*net.TCPConn); ok {
		t.SetLinger(0) // an error costs the system some memory only
	}
}

// enter lets a limit count the connection, and no other one. Nil is none. It reports whether a connection was closed for it.
func (x *socket) enter(l *crowd.Limit[*socket], each int) (dropped bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.in != nil {
		x.in.Remove(x)
	}
	if x.in = l; l == nil || x.closed {
		return false
	}
	return l.Add(x, each)
}

// Close implements [net.Conn].
func (x *socket) Close() error {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.enter(nil, 0)
	return x.Conn.Close()
}

// Read implements [net.Conn].
func (x *socket) Read(b []byte) (int, error) {
	n, err := x.Conn.Read(b)
	if n > 0 && x.trial.Load() && !x.heard.Swap(true) && !(x.known.Load() && x.gate.hear(x)) {
		x.resetOnClose()
		return 0, errTrial
	}
	return n, err
}

// Write implements [net.Conn]. It waits while the address has no budget left.
func (x *socket) Write(b []byte) (n int, err error) {
	for !x.isWebSocket.Load() && len(b)-n > 0 {
		part := b[n:min(len(b), n+sentAtOnce)]
		if p := x.charged.Load(); p != nil {
			time.Sleep(x.sent.Wait(*p, max(len(part), leastSent), time.Now()))
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
		x.enter(nil, 0)
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
	if x, ok := belowTLS(c).(*socket); ok {
		x.known.Store(true)
	}
	return context.WithValue(ctx, socketKey{}, belowTLS(c))
}

package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/server/internal/allowance"
	"github.com/seed-49bee653/samestep/server/internal/crowd"
)

// HTTPServer returns an http.Server for a handler such as a [Server]. It limits the size of a request and the time
// that a request may take. These limits do not apply to a WebSocket. Connections of a [Server.Listener] that are beyond the budget
// of their address reach h only with a valid token.
func HTTPServer(addr string, h http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           tried(h),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnContext:       withSocket,
	}
}

// A closeOnError is a ResponseWriter that closes the connection after an error status. Each retry then needs a new
// connection, and new connections have a budget.
type closeOnError struct{ http.ResponseWriter }

func (w closeOnError) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		w.Header().Set("Connection", "close")
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w closeOnError) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// tried serves the requests of connections that are not on trial, or pass it.
func tried(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if x, ok := r.Context().Value(socketKey{}).(*socket); ok && x.trial.Load() {
			if !x.gate.admit(x, w, r) {
				return
			}
			r = withReserve(r)
		}
		next.ServeHTTP(w, r)
	})
}

// Listener returns l with limits on connections that are not, or not yet, WebSockets of a match: Options.MaxPerAddress
// of one address, and 512 or a quarter of Options.Descriptors in all. At a limit the oldest connection of the address
// that has most is closed, so a new one is always accepted.
//
// An address may open four times Options.MaxPerAddress (at least 64) connections at once, and then Options.MaxPerAddress
// a second. Others must show a valid token or session in their first request, to a server made by [HTTPServer], and are closed
// otherwise. Only the limit of all connections applies to Options.TrustedProxies. A TLS
// listener wraps this one. With Options.ProxyProtocol a connection of a trusted proxy has the address in its header.
func (s *Server) Listener(l net.Listener) net.Listener {
	if s.options.ProxyProtocol {
		l = s.readHeaders(l)
	}
	return &listener{l, s}
}

type listener struct {
	net.Listener
	server *Server
}

func (l *listener) Accept() (net.Conn, error) {
	s := l.server
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	remote := c.RemoteAddr().String()
	x := &socket{Conn: c, sent: s.gates.sent, gate: s, addr: wsmatch.AddressOf(remote)}
	in, each, reason := s.gates.sockets, s.gates.limits.Load().MaxPerAddress, "socket"
	if x.proxy = s.proxies.Include(remote); x.proxy {
		each = math.MaxInt
	} else if x.charged.Store(&x.addr); !s.gates.connects.Spend(x.addr, 1, time.Now()) {
		x.trial.Store(true)
		in, each, reason = s.gates.silent, maxOnTrial, "connecting"
	}
	if x.enter(in, each) {
		s.turned.away(reason, remote)
	}
	return x, nil
}

// A connection beyond the budget of its address is on trial: it may make one request, which must show a valid token or session. So a
// flood from an address does not keep out the people behind it. Connections that send nothing cost next to nothing, and only push
// each other out.

// hear implements [gate].
func (s *Server) hear(x *socket) bool {
	if !s.gates.trials.Spend(x.addr, 1, time.Now()) {
		s.turned.away("connecting", x.RemoteAddr().String())
		return false
	}
	if x.enter(s.gates.onTrial, maxOnTrial) {
		s.turned.away("connecting", x.RemoteAddr().String())
	}
	return true
}

// admit implements [gate].
func (s *Server) admit(x *socket, w http.ResponseWriter, r *http.Request) bool {
	if !s.access.reserved(r, x.addr) {
		s.turned.away("connecting", r.RemoteAddr)
		fail(closeOnError{w}, codeRequests, "too many connections from your address")
		return false
	}
	x.trial.Store(false)
	if x.enter(s.gates.sockets, s.gates.limits.Load().MaxPerAddress) {
		s.turned.away("socket", r.RemoteAddr)
	}
	return true
}

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

func (x *socket) From() netip.Prefix { return x.addr }

func (x *socket) Drop() {
	if x.trial.Load() {
		x.resetOnClose()
	}
	x.Conn.Close()
}

// resetOnClose makes the system keep no memory of the connection once it is closed.
func (x *socket) resetOnClose() {
	c := x.Conn
	if p, ok := c.(*proxyproto.Conn); ok {
		c = p.Raw()
	}
	if t, ok := c.(*net.TCPConn); ok {
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

func (x *socket) Close() error {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.enter(nil, 0)
	return x.Conn.Close()
}

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

const (
	// proxyHeaderTime is the time that a proxy has for the header of a connection.
	proxyHeaderTime = 5 * time.Second

	// maxProxyHeaders is the number of connections whose header has not arrived yet. Further ones wait.
	maxProxyHeaders = 512
)

// A headerListener reads the header of the PROXY protocol from the connections of trusted proxies. It reads them
// concurrently, so a slow proxy delays nobody. Other connections are passed on as they are.
type headerListener struct {
	net.Listener
	server *Server

	start    sync.Once
	stop     func()
	stopped  chan struct{}
	accepted chan acceptedConn
	reading  chan struct{} // holds a value for each connection whose header is awaited
}

// An acceptedConn is the result of an Accept.
type acceptedConn struct {
	net.Conn
	err error
}

func (s *Server) readHeaders(l net.Listener) net.Listener {
	stopped := make(chan struct{})
	return &headerListener{
		Listener: l, server: s, stopped: stopped, stop: sync.OnceFunc(func() { close(stopped) }),
		accepted: make(chan acceptedConn), reading: make(chan struct{}, maxProxyHeaders),
	}
}

func (l *headerListener) Accept() (net.Conn, error) {
	l.start.Do(func() { go l.acceptAll() })
	select {
	case c := <-l.accepted:
		return c.Conn, c.err
	case <-l.stopped:
		return nil, net.ErrClosed
	}
}

func (l *headerListener) Close() error {
	l.stop()
	return l.Listener.Close()
}

func (l *headerListener) acceptAll() {
	for {
		c, err := l.Listener.Accept()
		if err != nil || !l.server.proxies.Include(c.RemoteAddr().String()) {
			if !l.pass(c, err) || errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		select {
		case l.reading <- struct{}{}:
			go l.readHeader(c)
		case <-l.stopped:
			c.Close()
			return
		}
	}
}

// readHeader passes on a connection once its header has arrived.
func (l *headerListener) readHeader(c net.Conn) {
	p := proxyproto.NewConn(c, proxyproto.WithPolicy(proxyproto.REQUIRE), proxyproto.SetReadHeaderTimeout(proxyHeaderTime))
	p.RemoteAddr()
	<-l.reading
	if p.ProxyHeader() == nil {
		l.server.turned.away("proxy header", c.RemoteAddr().String())
		c.Close()
		return
	}
	l.pass(p, nil)
}

// pass gives a connection or an error to Accept. It reports false, and closes the connection, if the listener is closed.
func (l *headerListener) pass(c net.Conn, err error) bool {
	select {
	case l.accepted <- acceptedConn{c, err}:
		return true
	case <-l.stopped:
		if c != nil {
			c.Close()
		}
		return false
	}
}

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

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.close()
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "within", Net: "unix"} }

// HandleOtherSockets sets the handler of WebSockets that offer no [Subprotocol], on any path: those of clients that speak
// another wire. It comes after the checks of hosts, proxies and origins, and control frames are limited as for other WebSockets. The
// handler limits everything else: connections, messages. It can join matches by [Server.Dial]. Without a handler
// the routes refuse such requests. It must be set before the server serves.
func (s *Server) HandleOtherSockets(h http.Handler) { s.others = h }

// IsOtherSocket reports whether a request is for a WebSocket and does not offer the [Subprotocol]. See
// [Server.HandleOtherSockets].
func IsOtherSocket(r *http.Request) bool {
	return slices.Contains(listed(r.Header, "Upgrade"), "websocket") && !slices.Contains(listed(r.Header, "Sec-Websocket-Protocol"), Subprotocol)
}

// listed returns the values of a header that lists some, in lower case.
func listed(h http.Header, name string) []string {
	all := strings.Split(strings.ToLower(strings.Join(h.Values(name), ",")), ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// An otherHijacker is the ResponseWriter for the handler of other WebSockets.
type otherHijacker struct{ hijacker }

// Hijack implements http.Hijacker. The connection no longer counts as one that is not a WebSocket.
func (h *otherHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := h.hijacker.Hijack()
	if err == nil {
		markUpgraded(h.conn)
	}
	return c, rw, err
}

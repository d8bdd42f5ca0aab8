package server

import (
	"math"
	"net"
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
)

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

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	s := l.server
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	remote := c.RemoteAddr().String()
	x := &socket{Conn: c, sent: s.sent, gate: s, addr: addressOf(remote)}
	in, each, reason := &s.sockets, s.limits.Load().MaxPerAddress, "socket"
	if x.proxy = s.isProxy(remote); x.proxy {
		each = math.MaxInt
	} else if x.charged.Store(&x.addr); !s.connects.spend(x.addr, 1, time.Now()) {
		x.trial.Store(true)
		in, each, reason = &s.silent, maxOnTrial, "connecting"
	}
	if x.enter(in, each) {
		s.turnedAway(reason, remote)
	}
	return x, nil
}

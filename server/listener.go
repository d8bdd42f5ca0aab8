package server

import (
	"math"
	"net"
	"time"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
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

package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// ErrProxy is wrapped by the error of [New] for an unknown Options.ProxyHeader, and for Options.TrustedProxies that are
// invalid or hold all addresses.
var ErrProxy = errors.New("server: want the addresses of proxies")

// checkProxies refuses unknown headers, invalid networks, and the network of all addresses.
func (o *Options) checkProxies() error {
	if h := o.ProxyHeader; h != xForwardedFor && h != forwardedHeader {
		return fmt.Errorf("%w: got the header %q, want %s or %s", ErrProxy, h, xForwardedFor, forwardedHeader)
	}
	for _, p := range o.TrustedProxies {
		if !p.IsValid() || p.Bits() == 0 {
			return fmt.Errorf("%w: got %v", ErrProxy, p)
		}
	}
	return nil
}

// trusts reports whether an address is one of Options.TrustedProxies.
func (s *Server) trusts(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(s.options.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isProxy is trusts for an "address:port", and for a connection over a unix socket, which has no address.
func (s *Server) isProxy(remote string) bool {
	if remote == "" || remote == "@" {
		return s.options.TrustUnix
	}
	a, err := netip.ParseAddrPort(remote)
	return err == nil && s.trusts(a.Addr())
}

// clientOf returns the client of a request. Each proxy appends the address of its own client to Options.ProxyHeader. So
// the client is the last address there that is not a trusted proxy; the client can have forged those before it.
func (s *Server) clientOf(r *http.Request) (from netip.AddrPort, forwarded bool) {
	from, _ = netip.ParseAddrPort(r.RemoteAddr) // invalid over a unix socket
	if !s.isProxy(r.RemoteAddr) {
		return from, false
	}
	values := strings.Join(r.Header.Values(s.options.ProxyHeader), ",")
	names := strings.Split(values, ",")
	if s.options.ProxyHeader == forwardedHeader {
		names = forwardedFor(values)
	}
	for _, name := range slices.Backward(names) {
		a, ok := parseForwarded(strings.TrimSpace(name))
		if !ok {
			break
		}
		if from = netip.AddrPortFrom(a, from.Port()); !s.trusts(a) {
			break
		}
	}
	return from, true
}

// parseForwarded reads an address, with or without a port.
func parseForwarded(text string) (netip.Addr, bool) {
	if p, err := netip.ParseAddrPort(text); err == nil {
		return p.Addr(), true
	}
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return a, err == nil
}

// byClient serves a request that came through a proxy as a request of its client. It spends the client's budgets of
// connections and of bytes sent.
func (s *Server) byClient(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	from, forwarded := s.clientOf(r)
	if !forwarded {
		next(w, r)
		return
	}
	client := addressOf(from.String())
	if !s.connects.spend(client, 1, time.Now()) {
		if !s.reserved(r, client) {
			s.turnedAway("connecting", from.String())
			fail(w, codeRequests, "too many requests from your address")
			return
		}
		r = withReserve(r)
	}
	if x, ok := r.Context().Value(socketKey{}).(*socket); ok {
		x.charged.Store(&client)
		defer x.charged.Store(nil)
	}
	r = r.WithContext(r.Context()) // a copy
	if from.IsValid() {
		r.RemoteAddr = from.String()
	}
	next(w, r)
}

// route calls the handler of a request's method and path, or that of other WebSockets.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	if s.others != nil && IsOtherSocket(r) {
		s.others.ServeHTTP(&otherHijacker{hijacker{ResponseWriter: w, budgets: s.frames, from: addressOf(r.RemoteAddr)}}, r)
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		w = &foreignErrors{ResponseWriter: w}
	}
	s.mux.ServeHTTP(w, r)
}

package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// ErrProxy is wrapped by the error of [New] if Options.TrustedProxies has none, or
// all, of the addresses.
var ErrProxy = errors.New("server: want the addresses of proxies")

// checkProxies refuses networks that are nobody's or everybody's.
func checkProxies(all []netip.Prefix) error {
	for _, p := range all {
		if !p.IsValid() || p.Bits() == 0 {
			return fmt.Errorf("%w: got %v", ErrProxy, p)
		}
	}
	return nil
}

// trusts reports whether an address is that of a proxy of the operator's.
func (s *Server) trusts(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(s.options.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isProxy is trusts for an "address:port".
func (s *Server) isProxy(remote string) bool {
	a, err := netip.ParseAddrPort(remote)
	return err == nil && s.trusts(a.Addr())
}

// clientOf returns where a request comes from. Each proxy adds the address that asked
// it to X-Forwarded-For, so the last one that is no proxy of ours is the client: it may
// have written those before itself.
func (s *Server) clientOf(r *http.Request) (from netip.AddrPort, forwarded bool) {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !s.trusts(from.Addr()) {
		return from, false
	}
	names := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, name := range slices.Backward(names) {
		a, ok := addressIn(strings.TrimSpace(name))
		if !ok {
			break
		}
		if from = netip.AddrPortFrom(a, from.Port()); !s.trusts(a) {
			break
		}
	}
	return from, true
}

// addressIn reads an address, with or without a port.
func addressIn(text string) (netip.Addr, bool) {
	if p, err := netip.ParseAddrPort(text); err == nil {
		return p.Addr(), true
	}
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return a, err == nil
}

// byClient serves a request that came through a proxy as one of its client, who pays
// for what the answer sends. A request costs what a connection would have cost.
func (s *Server) byClient(w http.ResponseWriter, r *http.Request) {
	from, forwarded := s.clientOf(r)
	if !forwarded {
		s.mux.ServeHTTP(w, r)
		return
	}
	client := of(from.String())
	if !s.connects.spend(client, 1, time.Now()) {
		s.metrics.turned.WithLabelValues("connecting").Inc()
		http.Error(w, "too many requests from your address", http.StatusTooManyRequests)
		return
	}
	if x, ok := r.Context().Value(socketKey{}).(*socket); ok {
		x.payer.Store(&client)
		defer x.payer.Store(nil)
	}
	r = r.WithContext(r.Context()) // a copy
	r.RemoteAddr = from.String()
	s.mux.ServeHTTP(w, r)
}

// socketKey finds the socket of a request.
type socketKey struct{}

func withSocket(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, socketKey{}, belowTLS(c))
}

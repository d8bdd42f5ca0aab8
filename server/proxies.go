package server

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/server/internal/front"
)

// ErrProxy is wrapped by the error of [New] for an unknown Options.ProxyHeader, and for Options.TrustedProxies that are
// invalid or hold all addresses.
var ErrProxy = errors.New("server: want the addresses of proxies")

// checkProxies refuses unknown headers, invalid networks, and the network of all addresses.
func (o *Options) checkProxies() error {
	if h := o.ProxyHeader; h != front.XForwardedFor && h != front.Forwarded {
		return fmt.Errorf("%w: got the header %q, want %s or %s", ErrProxy, h, front.XForwardedFor, front.Forwarded)
	}
	for _, p := range o.TrustedProxies {
		if !p.IsValid() || p.Bits() == 0 {
			return fmt.Errorf("%w: got %v", ErrProxy, p)
		}
	}
	return nil
}

// byClient serves a request that came through a proxy as a request of its client. It spends the client's budgets of
// connections and of bytes sent.
func (s *Server) byClient(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	from, forwarded := s.proxies.Client(r)
	if !forwarded {
		next(w, r)
		return
	}
	client := wsmatch.AddressOf(from.String())
	if !s.gates.connects.Spend(client, 1, time.Now()) {
		if !s.access.reserved(r, client) {
			s.turned.away("connecting", from.String())
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
		s.others.ServeHTTP(&otherHijacker{hijacker{ResponseWriter: w, budgets: s.gates.frames, from: wsmatch.AddressOf(r.RemoteAddr)}}, r)
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		w = &foreignErrors{ResponseWriter: w}
	}
	s.mux.ServeHTTP(w, r)
}

package server

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// hostAllowed reports whether a request names this server as its host. A page of
// another site can make its own name point at our address (DNS rebinding): for
// the browser it has our origin then, but its requests have that name.
func (s *Server) hostAllowed(r *http.Request) bool {
	name := hostName(r.Host)
	if name == "" {
		return false
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(s.hosts, name) {
		return true
	}
	// A browser has compared the name that it asked for with our certificate.
	if r.TLS != nil && r.TLS.ServerName != "" && hostName(r.TLS.ServerName) == name {
		return true
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	if addr.IsLoopback() {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	to, err := netip.ParseAddrPort(local.String())
	return err == nil && to.Addr().Unmap().WithZone("") == addr
}

// hostName returns the name or address in "host", "host:port" or "[address]:port",
// in the one form in which we compare it.
func hostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().WithZone("").String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

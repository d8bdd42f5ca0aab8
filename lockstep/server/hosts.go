package server

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// hostAllowed reports whether the Host of a request is one of this server's names. With DNS rebinding, the page of
// another site makes its own name point at our address. The browser then sees our origin, but the request has the
// other name.
func (s *Server) hostAllowed(r *http.Request) bool {
	name := hostName(r.Host)
	if name == "" {
		return false
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(s.hosts, name) {
		return true
	}
	// A browser has compared this name with our certificate.
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

// hostName returns the canonical name or address in "host", "host:port" or "[address]:port".
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

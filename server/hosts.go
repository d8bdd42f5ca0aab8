package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// hostForm is the form of a name of the server, as hostName writes it.
var hostForm = regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`)

// setHosts reads Options.AllowedHosts. Patterns and networks would match no request, so they are errors.
func (s *Server) setHosts() error {
	for _, text := range s.options.AllowedHosts {
		name := hostName(text)
		if _, err := netip.ParseAddr(name); strings.Contains(text, "/") || err != nil && !hostForm.MatchString(name) {
			return fmt.Errorf("server: allowed host: got %q, want one name or address of this server, such as play.example; each name is listed by itself", text)
		}
		s.hosts = append(s.hosts, name)
	}
	return nil
}

// hostAllowed reports whether the Host of a request is one of this server's names. With DNS rebinding, the page of
// another site makes its own name point at our address. The browser then sees our origin, but the request has the
// other name.
func (s *Server) hostAllowed(r *http.Request) bool {
	name := hostName(r.Host)
	if name == "" {
		return false
	}
	if isLoopbackName(name) || slices.Contains(s.hosts, name) {
		return true
	}
	// A browser has compared this name with our certificate.
	if r.TLS != nil && r.TLS.ServerName != "" && hostName(r.TLS.ServerName) == name {
		return true
	}
	return s.isAddress(r, name) || s.ofCluster(name)
}

// isAddress reports whether a host is the address to which the client has connected.
func (s *Server) isAddress(r *http.Request, host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	to, err := netip.ParseAddrPort(local.String())
	return err == nil && to.Addr().Unmap().WithZone("") == addr
}

// ofCluster reports whether a server of the cluster has a host in its address. A request that one server passes on to another one keeps
// the host with which it came.
func (s *Server) ofCluster(host string) bool {
	c, ok := s.options.Replicator.(interface{ Hosts() []string })
	return ok && slices.ContainsFunc(c.Hosts(), func(other string) bool { return hostName(other) == host })
}

// isHere reports whether a request comes from this machine: from a loopback address, to a loopback name, and through no proxy. A proxy
// that is not among Options.TrustedProxies, sends its own loopback address as the host and names no client cannot be told from a program here.
func isHere(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() || r.Header.Get(xForwardedFor) != "" || r.Header.Get(forwardedHeader) != "" {
		return false
	}
	return isLoopbackName(hostName(r.Host))
}

// isLoopbackName reports whether a host, as hostName writes it, always is this machine.
func isLoopbackName(name string) bool {
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || err == nil && addr.IsLoopback()
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

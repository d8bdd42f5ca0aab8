package front

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

// A Cluster knows the hosts of its servers.
type Cluster interface{ Hosts() []string }

// Hosts are the names of a server.
type Hosts struct {
	names   []string // as hostName writes them
	cluster Cluster  // or nil
}

// NewHosts reads names. Patterns and networks would match no request, so they are errors. The cluster may be nil.
func NewHosts(names []string, c Cluster) (*Hosts, error) {
	h := &Hosts{cluster: c}
	for _, text := range names {
		name := hostName(text)
		if _, err := netip.ParseAddr(name); strings.Contains(text, "/") || err != nil && !hostForm.MatchString(name) {
			return nil, fmt.Errorf("server: allowed host: got %q, want one name or address of this server, such as play.example; each name is listed by itself", text)
		}
		h.names = append(h.names, name)
	}
	return h, nil
}

// Allow reports whether the Host of a request is one of this server's names. With DNS rebinding, the page of
// another site makes its own name point at our address. The browser then sees our origin, but the request has the
// other name.
func (h *Hosts) Allow(r *http.Request) bool {
	name := hostName(r.Host)
	if name == "" {
		return false
	}
	if isLoopbackName(name) || slices.Contains(h.names, name) {
		return true
	}
	// A browser has compared this name with our certificate.
	if r.TLS != nil && r.TLS.ServerName != "" && hostName(r.TLS.ServerName) == name {
		return true
	}
	// A request that one server of a cluster passes on to another one keeps the host with which it came.
	return isAddress(r, name) || h.cluster != nil && slices.ContainsFunc(h.cluster.Hosts(), func(other string) bool { return hostName(other) == name })
}

// isAddress reports whether a host is the address to which the client has connected.
func isAddress(r *http.Request, host string) bool {
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

// IsHere reports whether a request comes from this machine: from a loopback address, to a loopback name, and through no proxy. A proxy
// that is not among the trusted ones, sends its own loopback address as the host and names no client cannot be told from a program here.
func IsHere(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() || r.Header.Get(XForwardedFor) != "" || r.Header.Get(Forwarded) != "" {
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

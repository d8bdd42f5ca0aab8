package front

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	pathpkg "path"
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
			return nil, fmt.Errorf("server: allowed host: got %q, want one name or address of this server, such as play.example", text)
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

// Proxies are those in front of a server.
type Proxies struct {
	Trusted []netip.Prefix
	Unix    bool   // clients over a unix socket are proxies, too
	Header  string // in which they name their client: XForwardedFor or Forwarded
}

// trusts reports whether an address is one of them.
func (p *Proxies) trusts(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(p.Trusted, func(of netip.Prefix) bool { return of.Contains(a) })
}

// Include is trusts for an "address:port", and for a connection over a unix socket, which has no address.
func (p *Proxies) Include(remote string) bool {
	if remote == "" || remote == "@" {
		return p.Unix
	}
	a, err := netip.ParseAddrPort(remote)
	return err == nil && p.trusts(a.Addr())
}

// Client returns the client of a request. Each proxy appends the address of its own client to Header. So
// the client is the last address there that is not a trusted proxy; the client can have forged those before it.
func (p *Proxies) Client(r *http.Request) (from netip.AddrPort, forwarded bool) {
	from, _ = netip.ParseAddrPort(r.RemoteAddr) // invalid over a unix socket
	if !p.Include(r.RemoteAddr) {
		return from, false
	}
	values := strings.Join(r.Header.Values(p.Header), ",")
	names := strings.Split(values, ",")
	if p.Header == Forwarded {
		names = forwardedFor(values)
	}
	for _, name := range slices.Backward(names) {
		a, ok := parseForwarded(strings.TrimSpace(name))
		if !ok {
			break
		}
		if from = netip.AddrPortFrom(a, from.Port()); !p.trusts(a) {
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

// The headers in which a proxy can name its client. A proxy appends to one of them and passes on the other as the client
// sent it, so the server reads only the one that its operator names.
const (
	XForwardedFor = "X-Forwarded-For"
	Forwarded     = "Forwarded" // RFC 7239
)

// forwardedFor returns the for parameter of each element of a Forwarded header; "" for an element without one. Elements
// are separated by commas, and parameters by semicolons. A value can be quoted.
func forwardedFor(header string) []string {
	var names []string
	for _, element := range splitUnquoted(header, ',') {
		name := ""
		for _, pair := range splitUnquoted(element, ';') {
			if key, value, _ := strings.Cut(pair, "="); strings.EqualFold(strings.TrimSpace(key), "for") {
				name = unquoted(strings.TrimSpace(value))
			}
		}
		names = append(names, name)
	}
	return names
}

// splitUnquoted splits a text at each separator that is not in a quoted string.
func splitUnquoted(text string, separator byte) (parts []string) {
	start, inQuotes := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && inQuotes:
			i++
		case c == '"':
			inQuotes = !inQuotes
		case c == separator && !inQuotes:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// unquoted returns the value of a quoted string. Addresses contain no escapes, so it leaves those.
func unquoted(value string) string {
	if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
		return value[1 : n-1]
	}
	return value
}

// Origins are patterns of the hosts whose pages may open WebSockets.
type Origins []string

// Check refuses patterns that can match no page.
func (o Origins) Check() error {
	for _, pattern := range o {
		_, after, schemed := strings.Cut(pattern, "://")
		if _, err := pathpkg.Match(pattern, ""); err != nil || strings.Contains(after, "/") || !schemed && strings.Contains(pattern, "/") {
			return fmt.Errorf("server: origin: got %q, want a host, such as play.example or localhost:5173", pattern)
		}
	}
	return nil
}

// Allow reports whether a page is of the host of the request, or of one of these.
func (o Origins) Allow(origin, host string) bool {
	u, err := url.Parse(strings.ToLower(origin))
	if err != nil || u.Host == "" {
		return false
	}
	return strings.EqualFold(u.Host, host) || slices.ContainsFunc(o, func(pattern string) bool {
		target := u.Host
		if strings.Contains(pattern, "://") {
			target = u.Scheme + "://" + u.Host
		}
		ok, err := pathpkg.Match(strings.ToLower(pattern), target)
		return ok && err == nil // Check has refused malformed patterns
	})
}

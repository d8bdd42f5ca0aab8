package front

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

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

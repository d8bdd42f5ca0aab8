//go:build !js

package clustertool

import (
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
)

// checkAddress warns of an address at which other servers cannot reach this one. It does not refuse it: a proxy or the network
// may lead from there to here.
func checkAddress(log *slog.Logger, address, listens, nats string) {
	at, here := hostOf(address), hostOf(listens)
	switch {
	case strings.HasPrefix(listens, "unix:") || isUnspecified(here):
	case isExposed(at) != isExposed(here) || isIP(at) && isIP(here) && at != here:
		log.Warn("the other servers are told an address at which this one does not listen: want a proxy that leads from address to listen, or another listen", "address", address, "listens", listens)
		return
	}
	first, _, _ := strings.Cut(nats, ",")
	if !isExposed(at) && isExposed(hostOf(first)) {
		log.Warn("the other servers are told an address that only this machine reaches: want another address", "address", address)
	}
}

// hostOf returns the host of a URL, or "".
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func isUnspecified(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsUnspecified()
}

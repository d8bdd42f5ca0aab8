package attack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"runtime"
	"syscall"
)

// errAddress is returned for an address that is not a loopback address.
var errAddress = errors.New("attack: only loopback addresses are attacked")

// CheckURL returns errAddress unless the URL of a server is plain "ws://HOST:PORT" and
// its host has loopback addresses only.
func CheckURL(ctx context.Context, server string) error {
	u, err := url.Parse(server)
	if err != nil {
		return fmt.Errorf("%w: %w", errAddress, err)
	}
	if u.Scheme != "ws" || u.Port() == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return fmt.Errorf("%w: got %q, want ws://127.0.0.1:PORT", errAddress, server)
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return fmt.Errorf("%w: %w", errAddress, err)
	}
	for _, a := range all {
		if !a.Unmap().IsLoopback() {
			return fmt.Errorf("%w: %s is %v", errAddress, u.Hostname(), a.Unmap())
		}
	}
	return nil
}

// dialer returns a dialer that connects to loopback addresses only, from a local
// address unless that is empty. It checks the address after names are resolved.
func dialer(from string) *net.Dialer {
	d := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !to.Addr().Unmap().IsLoopback() {
			return fmt.Errorf("%w: got %s", errAddress, address)
		}
		return nil
	}}
	if from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	return d
}

// otherAddress returns a loopback address for the attackers, so that they do not share
// the limits of an address with the honest players. It returns "" if there is none: only
// on Linux are all addresses of 127.0.0.0/8 local.
func otherAddress(server string) string {
	u, err := url.Parse(server)
	if err != nil || runtime.GOOS != "linux" {
		return ""
	}
	if to, err := netip.ParseAddr(u.Hostname()); err != nil || !to.Unmap().Is4() {
		return ""
	}
	return "127.0.0.2"
}

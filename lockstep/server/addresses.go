package server

import "net/netip"

// of returns whose connection one from "address:port" is: an IPv4 address, or
// the 64 bits of an IPv6 address that a provider gives to one customer.
func of(remote string) netip.Prefix {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{} // a listener without addresses: all are one
	}
	addr := ap.Addr().Unmap()
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	p, err := addr.WithZone("").Prefix(bits)
	if err != nil {
		panic(err) // 64 bits of 128, or 32 of 32
	}
	return p
}

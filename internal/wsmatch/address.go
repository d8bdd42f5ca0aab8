package wsmatch

import "net/netip"

// AddressOf returns the address of an "address:port", as limits count it: an IPv4 address, or the 64 bits of an IPv6
// address that a provider gives to one customer.
func AddressOf(remote string) netip.Prefix {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{} // a listener without addresses: all connections share one
	}
	addr := ap.Addr().Unmap()
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	p, err := addr.WithZone("").Prefix(bits)
	if err != nil {
		panic(err) // cannot happen: 64 bits of 128, or 32 of 32
	}
	return p
}

package server

import "net/netip"

// clientText returns the address of an "address:port" without the port.
func clientText(remote string) string {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	return ap.Addr().Unmap().String()
}

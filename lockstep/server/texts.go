package server

import (
	"net/netip"
	"strings"
)

// clipReason cuts a reason to the size of a WebSocket's close frame, between characters: a browser treats a frame that
// is not UTF-8 as a broken connection.
func clipReason(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), 120)], "")
}

// clientText returns the address of an "address:port" without the port.
func clientText(remote string) string {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	return ap.Addr().Unmap().String()
}

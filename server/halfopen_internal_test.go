package server

import (
	"net/netip"
	"testing"
)

// Handshakes have a limit of all addresses together, and each that ends makes room.
func TestHalfOpenLimits(t *testing.T) {
	h := halfOpen{of: make(map[netip.Prefix]int)}
	address := func(n int) netip.Prefix { return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), 32) }
	var ends []func()
	for i := range 2 * maxHalfOpen {
		if end, ok := h.begin(address(i / (2 * maxHalfOpenEach))); ok {
			ends = append(ends, end)
		}
	}
	if len(ends) != maxHalfOpen {
		t.Errorf("got %d handshakes, want %d", len(ends), maxHalfOpen)
	}
	if _, ok := h.begin(address(200)); ok {
		t.Error("got one more")
	}
	for _, end := range ends {
		end()
		end()
	}
	if h.all != 0 || len(h.of) != 0 {
		t.Errorf("got %d handshakes of %d addresses at the end, want none", h.all, len(h.of))
	}
}

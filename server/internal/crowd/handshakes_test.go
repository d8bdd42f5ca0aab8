package crowd

import (
	"net/netip"
	"testing"
)

// Handshakes have a limit of all addresses together, and each that ends makes room.
func TestHalfOpenLimits(t *testing.T) {
	h := new(Handshakes)
	address := func(n int) netip.Prefix { return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), 32) }
	var ends []func()
	for i := range 2 * MaxHandshakes {
		if end, ok := h.Begin(address(i / (2 * MaxHandshakesEach))); ok {
			ends = append(ends, end)
		}
	}
	if len(ends) != MaxHandshakes {
		t.Errorf("got %d handshakes, want %d", len(ends), MaxHandshakes)
	}
	if _, ok := h.Begin(address(200)); ok {
		t.Error("got one more")
	}
	for _, end := range ends {
		end()
		end()
	}
	if h.All() != 0 || len(h.of) != 0 {
		t.Errorf("got %d handshakes of %d addresses at the end, want none", h.All(), len(h.of))
	}
}

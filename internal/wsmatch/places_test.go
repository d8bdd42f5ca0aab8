package wsmatch

import (
	"net/netip"
	"testing"
)

// Places have a limit of all addresses together and one of each, and each that is left makes room, once.
func TestPlaces(t *testing.T) {
	const most, each = 256, 32
	p := new(Places)
	address := func(n int) netip.Prefix { return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}), 32) }
	var left []func()
	for i := range 2 * most {
		if leave, ok := p.Take(address(i/(2*each)), most, each); ok {
			left = append(left, leave)
		}
	}
	if len(left) != most {
		t.Errorf("got %d places, want %d", len(left), most)
	}
	if _, ok := p.Take(address(200), most, each); ok {
		t.Error("got one more")
	}
	for _, leave := range left {
		leave()
		leave()
	}
	if p.All() != 0 || len(p.of) != 0 {
		t.Errorf("got %d places of %d addresses at the end, want none", p.All(), len(p.of))
	}
}

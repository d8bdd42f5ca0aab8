package wsmatch

import (
	"net/netip"
	"sync"
)

// Places counts what clients use at a time, such as downloads, in all and by address. At a limit it refuses a newcomer.
type Places struct {
	mu  sync.Mutex
	all int
	of  map[netip.Prefix]int // only addresses with one or more
}

// Take takes a place until leave is called, or reports false if there are most in all, or the address has as many as each may.
func (p *Places) Take(from netip.Prefix, most, each int) (leave func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= most || p.of[from] >= each {
		return nil, false
	}
	if p.of == nil {
		p.of = make(map[netip.Prefix]int)
	}
	p.all++
	p.of[from]++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all--
		if p.of[from]--; p.of[from] == 0 {
			delete(p.of, from)
		}
	}), true
}

// All returns how many places are taken.
func (p *Places) All() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

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

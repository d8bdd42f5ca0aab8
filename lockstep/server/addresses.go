package server

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// maxRefused is how many tokens an address may try in vain in one span.
	maxRefused  = 20
	refusedSpan = time.Minute
)

// addresses counts what each address does: its connections, and the tokens that
// it tried in vain.
type addresses struct {
	max   int // connections of one address
	mu    sync.Mutex
	known map[netip.Prefix]*address
	swept time.Time
}

type address struct {
	conns   int
	refused int
	since   time.Time // when counting refused began
}

// idle reports whether nothing need be known of the address.
func (a *address) idle(now time.Time) bool {
	return a.conns == 0 && (a.refused == 0 || now.Sub(a.since) > refusedSpan)
}

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

// at returns what is known of an address. The lock is held.
func (a *addresses) at(from netip.Prefix, now time.Time) *address {
	if now.Sub(a.swept) > refusedSpan {
		a.sweep(now)
	}
	x := a.known[from]
	if x == nil {
		x = &address{}
		a.known[from] = x
	}
	return x
}

// guessing reports whether an address has tried too many tokens in vain.
func (a *addresses) guessing(from netip.Prefix) bool {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at(from, now).guesses(now)
}

// enter counts a connection, unless its address has too many of them or has
// guessed too many tokens: then turned says so.
func (a *addresses) enter(from netip.Prefix) (turned string) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.at(from, now)
	switch {
	case x.conns >= a.max:
		return "address"
	case x.guesses(now):
		return "guessing"
	}
	x.conns++
	return ""
}

// guesses reports whether the address has tried too many tokens in vain.
func (a *address) guesses(now time.Time) bool {
	return a.refused >= maxRefused && now.Sub(a.since) <= refusedSpan
}

func (a *addresses) leave(from netip.Prefix) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if x := a.known[from]; x != nil {
		x.conns--
		if x.idle(time.Now()) {
			delete(a.known, from)
		}
	}
}

// refused counts a token that was tried in vain.
func (a *addresses) refused(from netip.Prefix) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.at(from, now)
	if now.Sub(x.since) > refusedSpan {
		x.since, x.refused = now, 0
	}
	x.refused++
}

func (a *addresses) sweep(now time.Time) {
	a.swept = now
	for from, x := range a.known {
		if x.idle(now) {
			delete(a.known, from)
		}
	}
}

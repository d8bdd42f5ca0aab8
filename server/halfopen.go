package server

import (
	"net/netip"
	"sync"
)

const (
	// maxHalfOpen is the number of QUIC handshakes of a server that are not finished.
	maxHalfOpen = 256

	// maxHalfOpenEach is the number of those of an address.
	maxHalfOpenEach = 32
)

// halfOpen counts the QUIC handshakes that are not finished. They cannot be ended from outside, so beyond the limits new ones are
// refused: their clients go on without datagrams, and try again.
type halfOpen struct {
	mu  sync.Mutex
	all int
	of  map[netip.Prefix]int
}

// begin counts a handshake until end is called, or reports false at a limit.
func (h *halfOpen) begin(from netip.Prefix) (end func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all >= maxHalfOpen || h.of[from] >= maxHalfOpenEach {
		return nil, false
	}
	h.all++
	h.of[from]++
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.all--
		if h.of[from]--; h.of[from] == 0 {
			delete(h.of, from)
		}
	}), true
}

package crowd

import (
	"net/netip"
	"sync"
)

const (
	// MaxHandshakes is the number of QUIC handshakes of a server that are not finished.
	MaxHandshakes = 256

	// MaxHandshakesEach is the number of those of an address.
	MaxHandshakesEach = 32
)

// Handshakes counts the QUIC handshakes that are not finished. They cannot be ended from outside, so beyond the limits new ones are
// refused: their clients go on without datagrams, and try again.
type Handshakes struct {
	mu  sync.Mutex
	all int
	of  map[netip.Prefix]int
}

// Begin counts a handshake until end is called, or reports false at a limit.
func (h *Handshakes) Begin(from netip.Prefix) (end func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all >= MaxHandshakes || h.of[from] >= MaxHandshakesEach {
		return nil, false
	}
	if h.of == nil {
		h.of = make(map[netip.Prefix]int)
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

// All returns the number of handshakes that are not finished.
func (h *Handshakes) All() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all
}

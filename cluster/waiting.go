package cluster

import (
	"errors"
	"net/netip"
	"sync"
)

const (
	// maxWaiting is how many requests wait at a time for matches that have no server now. Each holds a connection.
	maxWaiting = 2048

	// maxWaitingAddress is how many of them one address may have.
	maxWaitingAddress = 256
)

// errCrowd refuses a request because too many others wait.
var errCrowd = errors.New("cluster: too many requests wait")

// A crowd counts requests that wait.
type crowd struct {
	mu  sync.Mutex
	all int
	by  map[netip.Prefix]int // only addresses with one or more
}

// enter counts a request of a client. It reports false, and counts nothing, at a limit.
func (c *crowd) enter(client string) bool {
	from := networkOf(client)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == maxWaiting || c.by[from] == maxWaitingAddress {
		return false
	}
	if c.by == nil {
		c.by = make(map[netip.Prefix]int)
	}
	c.all++
	c.by[from]++
	return true
}

// leave takes a request back that enter has counted.
func (c *crowd) leave(client string) {
	from := networkOf(client)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.by[from]--; c.by[from] == 0 {
		delete(c.by, from)
	}
}

// networkOf returns the address of a client, of IPv6 the first 64 bits, which one client may have. All clients without an
// address are one.
func networkOf(client string) netip.Prefix {
	a, err := netip.ParseAddrPort(client)
	if err != nil {
		return netip.Prefix{}
	}
	bits := 32
	if a.Addr().Unmap().Is6() {
		bits = 64
	}
	p, err := a.Addr().Unmap().WithZone("").Prefix(bits)
	if err != nil {
		panic(err) // 64 bits of 128, or 32 of 32
	}
	return p
}

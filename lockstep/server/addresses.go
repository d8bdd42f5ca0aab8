package server

import (
	"net"
	"sync"
)

// addresses counts the connections of each address.
type addresses struct {
	max    int
	mu     sync.Mutex
	counts map[string]int
}

// enter counts a connection of a remote address "host:port", unless the host
// has too many. It returns what leave takes.
func (a *addresses) enter(remote string) (addr string, ok bool) {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts[host] >= a.max {
		return "", false
	}
	a.counts[host]++
	return host, true
}

func (a *addresses) leave(addr string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts[addr]--; a.counts[addr] <= 0 {
		delete(a.counts, addr)
	}
}

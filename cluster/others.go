package cluster

import (
	"net/url"
	"time"
)

// hop marks a request that a server has passed on: the next one answers it itself.
const hop = "Samestep-Hop"

// askTime is how long another server may take to answer.
const askTime = time.Second

// addresses returns the addresses of the other servers that live.
func (m *Member) addresses() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, s := range m.others {
		if name != m.id && !m.leases.Expired(name, m.now()) {
			all = append(all, s.Address)
		}
	}
	return all
}

// Hosts returns the hosts in the addresses of all servers of the cluster, also of this one. A [server.Server] accepts requests for them.
func (m *Member) Hosts() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.others {
		if u, err := url.Parse(s.Address); err == nil { // as sawServer has checked
			all = append(all, u.Host)
		}
	}
	return all
}

package cluster

import "time"

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

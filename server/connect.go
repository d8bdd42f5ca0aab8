package server

import "github.com/seed-49bee653/samestep/server/internal/crowd"

// connect adds a new connection to the match. The match's goroutine calls it.
func (m *Match) connect(c *conn) {
	if len(m.connecting) >= m.maxConnecting {
		m.evict(crowd.OldestOfFullest(m.connecting))
	}
	id, ok := m.host.Connect(m.now(), c.addr.String())
	if !ok && m.evictClosed() { // connections that are still closing occupied the places
		id, ok = m.host.Connect(m.now(), c.addr.String())
	}
	if !ok {
		c.End("the match is full")
		return
	}
	c.id = id
	m.conns[id] = c
	m.connecting = append(m.connecting, c)
}

// evict ends a connection without waiting for its socket.
func (m *Match) evict(c *conn) {
	c.turnedAway("crowd")
	m.host.Disconnect(m.now(), c.id)
	delete(m.conns, c.id)
	m.connecting = crowd.Without(m.connecting, c)
	c.id = 0
	c.Drop()
}

// evictClosed evicts the oldest connection that the host has closed and whose socket is still open. It reports false
// if there is none.
func (m *Match) evictClosed() bool {
	var oldest *conn
	for id, c := range m.conns {
		if _, _, closed := m.host.Closed(id); closed && (oldest == nil || id < oldest.id) {
			oldest = c
		}
	}
	if oldest != nil {
		m.evict(oldest)
	}
	return oldest != nil
}

// process does what the host wants done, except that it feeds no connection. It is called after each method of the
// host.
func (m *Match) process() {
	for {
		r := m.host.Ready()
		if m.next = r.Next; r.Empty() {
			m.keepBans()
			return
		}
		m.record(r)
		for _, e := range r.Events {
			m.observe(e)
		}
		for _, e := range r.Early {
			m.desynced(e)
			m.bundles.Early(m.caseOf(e))
		}
		for _, e := range r.Evidence {
			m.evidence(e)
		}
		for _, id := range r.Peers {
			if c := m.conns[id]; c != nil && !c.due {
				c.due = true
				m.due = append(m.due, c)
			}
		}
	}
}

// feed moves the host's messages to their connections.
func (m *Match) feed() {
	for m.process(); len(m.due) > 0; m.process() {
		m.due, m.fed = m.fed[:0], m.due
		for _, c := range m.fed {
			c.due = false
			c.feed()
		}
		clear(m.fed)
	}
}

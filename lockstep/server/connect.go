package server

// connect adds a new connection to the match. The match's goroutine calls it.
func (m *Match) connect(c *conn) {
	if len(m.connecting) >= m.maxConnecting {
		m.evict(oldestOfFullest(m.connecting))
	}
	id, ok := m.host.Connect(m.now(), c.addr.String())
	if !ok && m.evictClosed() { // connections that are still closing occupied the places
		id, ok = m.host.Connect(m.now(), c.addr.String())
	}
	if !ok {
		c.end("the match is full")
		return
	}
	c.id = id
	m.conns[id] = c
	m.connecting = append(m.connecting, c)
}

// evict ends a connection without waiting for its socket.
func (m *Match) evict(c *conn) {
	m.server.metrics.refused.WithLabelValues("crowd").Inc()
	m.host.Disconnect(m.now(), c.id)
	delete(m.conns, c.id)
	m.connecting = without(m.connecting, c)
	c.id = 0
	c.drop()
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

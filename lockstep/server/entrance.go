package server

import (
	"crypto/tls"
	"net/netip"
	"slices"
	"sync"
)

// maxUnauthenticated is how many connections of a server may not have said yet who
// they are. A match has a limit of its own, see lockstep.HostOptions.MaxConnecting.
const maxUnauthenticated = 512

// An entrance has the connections that are not welcomed yet, the oldest first. Nobody
// knows who they are: at a limit it is the address with most of them that loses its
// oldest, and who came last is let in. Those of an honest client stay milliseconds.
type entrance struct {
	each, all int // limits

	mu    sync.Mutex
	conns []*conn
}

// enter adds a connection, and drops the one that is too many.
func (e *entrance) enter(c *conn) (dropped bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conns = append(e.conns, c)
	var victim *conn
	if n, oldest := ofAddress(e.conns, c.addr); n > e.each {
		victim = oldest
	} else if len(e.conns) > e.all {
		victim = fullest(e.conns)
	}
	if victim == nil {
		return false
	}
	e.conns = without(e.conns, victim)
	victim.drop()
	return true
}

// leave removes a connection, which is welcomed or gone.
func (e *entrance) leave(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conns = without(e.conns, c)
}

// ofAddress returns how many connections an address has, and its oldest.
func ofAddress(conns []*conn, from netip.Prefix) (n int, oldest *conn) {
	for _, c := range conns {
		if c.addr == from {
			if n++; n == 1 {
				oldest = c
			}
		}
	}
	return n, oldest
}

// fullest returns the oldest connection of the address that has most; of several
// such addresses, that of the oldest connection.
func fullest(conns []*conn) *conn {
	counts := make(map[netip.Prefix]int)
	most := 0
	for _, c := range conns {
		counts[c.addr]++
		most = max(most, counts[c.addr])
	}
	i := slices.IndexFunc(conns, func(c *conn) bool { return counts[c.addr] == most })
	return conns[i] // there is one: it is called for the last of a full list
}

func without(conns []*conn, c *conn) []*conn {
	if i := slices.Index(conns, c); i >= 0 {
		return slices.Delete(conns, i, i+1)
	}
	return conns
}

// drop closes the socket at once, without a word: whoever waits for the closing
// handshake of a stranger keeps its place for it.
func (c *conn) drop() {
	socket := c.socket
	if t, ok := socket.(*tls.Conn); ok {
		socket = t.NetConn() // TLS would wait until its alert is written
	}
	socket.Close()
}

// letIn lets a new connection into the match. The match's goroutine calls it.
func (m *Match) letIn(c *conn) {
	if len(m.entering) >= m.maxConnecting {
		m.turnOut(fullest(m.entering))
	}
	id, ok := m.host.Connect(m.now(), c.addr.String())
	if !ok { // those that are being closed have the places
		if m.turnOutClosed() {
			id, ok = m.host.Connect(m.now(), c.addr.String())
		}
		if !ok {
			c.end("the match is full")
			return
		}
	}
	c.id = id
	m.conns[id] = c
	m.entering = append(m.entering, c)
}

// turnOut ends a connection without waiting for its socket.
func (m *Match) turnOut(c *conn) {
	m.server.metrics.turned.WithLabelValues("crowd").Inc()
	m.host.Disconnect(m.now(), c.id)
	delete(m.conns, c.id)
	m.entering = without(m.entering, c)
	c.id = 0
	c.drop()
}

// turnOutClosed turns out the oldest connection that the host has closed, and whose
// socket is not closed yet. It reports false if there is none.
func (m *Match) turnOutClosed() bool {
	var oldest *conn
	for id, c := range m.conns {
		if _, _, closed := m.host.Closed(id); closed && (oldest == nil || id < oldest.id) {
			oldest = c
		}
	}
	if oldest != nil {
		m.turnOut(oldest)
	}
	return oldest != nil
}

package server

import (
	"net/netip"
	"slices"
	"sync"
)

// maxUnauthenticated is how many connections of a server may not have said yet who
// they are. A match has a limit of its own, see host.Options.MaxConnecting.
const maxUnauthenticated = 512

// descriptorShares is into how many parts the file descriptors of the process are
// divided: one for connections that have not authenticated, one for those that are no
// WebSockets, one for spectators, and one for players and files.
const descriptorShares = 4

// anyDescriptors stands for any number of file descriptors.
const anyDescriptors = 1 << 20

// A stranger is a connection of somebody of whom only the address is known.
type stranger interface {
	comparable
	from() netip.Prefix
	drop() // closes it at once
}

// An entrance has the strangers, the oldest first. At a limit the address with
// most strangers loses its oldest, and the newcomer is let in: a player is a
// stranger for milliseconds only.
type entrance[S stranger] struct {
	all int // limit

	mu     sync.Mutex
	inside []S
}

// enter adds a stranger, of whose address at most each may be inside, and drops the one
// that is too many.
func (e *entrance[S]) enter(x S, each int) (dropped bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inside = append(e.inside, x)
	var victim S
	if n, oldest := ofAddress(e.inside, x.from()); n > each {
		victim = oldest
	} else if len(e.inside) > e.all {
		victim = fullest(e.inside)
	} else {
		return false
	}
	e.inside = without(e.inside, victim)
	victim.drop()
	return true
}

// leave removes a connection, which is known now or gone.
func (e *entrance[S]) leave(x S) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inside = without(e.inside, x)
}

// ofAddress returns how many strangers come from an address, and the oldest.
func ofAddress[S stranger](all []S, from netip.Prefix) (n int, oldest S) {
	for _, x := range all {
		if x.from() == from {
			if n++; n == 1 {
				oldest = x
			}
		}
	}
	return n, oldest
}

// fullest returns the oldest stranger of the address that has most; of several such
// addresses, of the one that has the oldest.
func fullest[S stranger](all []S) S {
	counts := make(map[netip.Prefix]int)
	most := 0
	for _, x := range all {
		counts[x.from()]++
		most = max(most, counts[x.from()])
	}
	i := slices.IndexFunc(all, func(x S) bool { return counts[x.from()] == most })
	return all[i] // there is one: it is called for a list that is full
}

func without[S comparable](all []S, x S) []S {
	if i := slices.Index(all, x); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}

func (c *conn) from() netip.Prefix { return c.addr }

// drop closes the socket at once: to wait for the closing handshake of a stranger
// would keep its place occupied.
func (c *conn) drop() {
	belowTLS(c.socket).Close() // TLS would wait until its alert is written
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

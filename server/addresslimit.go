package server

import (
	"net/netip"
	"sync"

	"github.com/seed-49bee653/samestep/server/internal/crowd"
)

// An addressLimit limits the authenticated connections of each address. At the limit one connection is closed: that of
// a guest if the new one has a token, otherwise one of the subject that has most. If that is the new connection's own
// subject, the new connection is closed. So nobody keeps out another subject, and no player is closed for somebody
// with no better right.
type addressLimit struct {
	max int // of an address

	mu    sync.Mutex
	conns map[netip.Prefix][]*conn // the oldest first
}

// add adds a connection, and returns the one to close, or nil.
func (l *addressLimit) add(c *conn) (victim *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return nil
	}
	l.conns[c.addr] = append(l.conns[c.addr], c)
	if len(l.conns[c.addr]) <= l.max {
		return nil
	}
	victim = leastEntitled(l.conns[c.addr], c)
	l.delete(victim)
	return victim
}

// resize changes the limit, and returns the connections to close.
func (l *addressLimit) resize(most int) (victims []*conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.max = most
	for addr, all := range l.conns {
		for n := len(all) - most; n > 0; n-- {
			victim := leastEntitled(l.conns[addr], &conn{subject: "a token"}) // guests first
			l.delete(victim)
			victims = append(victims, victim)
		}
	}
	return victims
}

// remove removes a closed connection. A remove may come before the add, because the match handles the connection's
// last message later.
func (l *addressLimit) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.closed = true
	l.delete(c)
}

func (l *addressLimit) delete(c *conn) {
	if l.conns[c.addr] = crowd.Without(l.conns[c.addr], c); len(l.conns[c.addr]) == 0 {
		delete(l.conns, c.addr)
	}
}

// leastEntitled returns the connection to close for a new one, which is in the list: the latest of a subject.
func leastEntitled(all []*conn, added *conn) *conn {
	bySubject := make(map[string][]*conn)
	for _, c := range all {
		bySubject[c.subject] = append(bySubject[c.subject], c)
	}
	victims := bySubject[added.subject]
	for _, c := range all {
		if weight(bySubject[c.subject], added) > weight(victims, added) {
			victims = bySubject[c.subject]
		}
	}
	return victims[len(victims)-1]
}

// weight returns the number of connections. For a new connection with a token, one guest weighs more than all that
// have tokens.
func weight(all []*conn, added *conn) (n int) {
	const guest = 1 << 20 // more than the connections of an address
	for _, c := range all {
		if n++; added.subject != "" && c.subject == "" {
			n += guest
		}
	}
	return n
}

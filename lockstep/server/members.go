package server

import (
	"net/netip"
	"slices"
	"sync"
)

// A membership has the connections that were welcomed, by address. At the limit one goes: a
// guest if the newcomer has a token, else one of the subject that has most of them. If
// that is the newcomer's own, the newcomer goes. So nobody keeps out another subject,
// and who plays already is not closed for somebody who has no better right.
type membership struct {
	each int // of an address

	mu     sync.Mutex
	inside map[netip.Prefix][]*conn // the oldest first
}

// enter adds a connection, and returns the one that has to go, or nil.
func (a *membership) enter(c *conn) (victim *conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.gone {
		return nil
	}
	a.inside[c.addr] = append(a.inside[c.addr], c)
	if len(a.inside[c.addr]) <= a.each {
		return nil
	}
	victim = leastRight(a.inside[c.addr], c)
	a.remove(victim)
	return victim
}

// leave removes a connection that is gone. It may leave before it enters, when its
// match comes to its last message.
func (a *membership) leave(c *conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.gone = true
	a.remove(c)
}

func (a *membership) remove(c *conn) {
	all := a.inside[c.addr]
	i := slices.Index(all, c)
	if i < 0 {
		return
	}
	if all = slices.Delete(all, i, i+1); len(all) == 0 {
		delete(a.inside, c.addr)
		return
	}
	a.inside[c.addr] = all
}

// leastRight returns which of several connections goes for a newcomer, which is one of
// them: of a subject the latest.
func leastRight(all []*conn, c *conn) *conn {
	of := make(map[string][]*conn)
	for _, x := range all {
		of[x.subject] = append(of[x.subject], x)
	}
	victims := of[c.subject]
	for _, x := range all {
		if weight(of[x.subject], c) > weight(victims, c) {
			victims = of[x.subject]
		}
	}
	return victims[len(victims)-1]
}

// weight returns how many connections there are, from the view of a newcomer: one with
// a token counts any guest as more than all that have tokens.
func weight(all []*conn, c *conn) (n int) {
	const guest = 1 << 20 // more than an address has
	for _, x := range all {
		if n++; c.subject != "" && x.subject == "" {
			n += guest
		}
	}
	return n
}

package crowd

import (
	"net/netip"
	"slices"
	"sync"
)

// A Conn is a connection that counts only by its address.
type Conn interface {
	comparable
	From() netip.Prefix
	Drop() // closes it at once
}

// A Limit limits connections, such as the unauthenticated ones. It always admits a new one: at a limit it drops the
// oldest connection of the address that has most. Players are not hurt, because they authenticate in milliseconds.
type Limit[C Conn] struct {
	mu    sync.Mutex
	max   int // in all
	conns []C // the oldest first
}

// New returns a Limit that allows so many connections in all.
func New[C Conn](most int) *Limit[C] { return &Limit[C]{max: most} }

// Most returns the number of connections that the limit allows in all.
func (l *Limit[C]) Most() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.max
}

// Add adds a connection. It drops one, and reports that, if the address now has more than maxOfAddress or if there are
// more than max in all.
func (l *Limit[C]) Add(c C, maxOfAddress int) (dropped bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, c)
	var victim C
	if n, oldest := countFrom(l.conns, c.From()); n > maxOfAddress {
		victim = oldest
	} else if len(l.conns) > l.max {
		victim = OldestOfFullest(l.conns)
	} else {
		return false
	}
	l.conns = Without(l.conns, victim)
	victim.Drop()
	return true
}

// Crowded reports whether one more connection of an address would drop another one.
func (l *Limit[C]) Crowded(addr netip.Prefix, maxOfAddress int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, _ := countFrom(l.conns, addr)
	return n >= maxOfAddress || len(l.conns) >= l.max
}

// Resize changes the limits, and drops the connections beyond them. ofAddress returns the one of a connection's address.
func (l *Limit[C]) Resize(all int, ofAddress func(C) int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.max = all
	for _, c := range slices.Clone(l.conns) {
		victim := c
		if n, oldest := countFrom(l.conns, c.From()); n > ofAddress(c) {
			victim = oldest
		} else if len(l.conns) > l.max {
			victim = OldestOfFullest(l.conns)
		} else {
			continue
		}
		l.conns = Without(l.conns, victim)
		victim.Drop()
	}
}

// Remove removes a connection that has closed, or that this limit no longer concerns.
func (l *Limit[C]) Remove(c C) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = Without(l.conns, c)
}

// countFrom returns the number of connections of an address, and the oldest one.
func countFrom[C Conn](all []C, from netip.Prefix) (n int, oldest C) {
	for _, c := range all {
		if c.From() == from {
			if n++; n == 1 {
				oldest = c
			}
		}
	}
	return n, oldest
}

// OldestOfFullest returns the oldest connection of the address that has most. Of addresses with equally many, it is
// the one with the oldest connection.
func OldestOfFullest[C Conn](all []C) C {
	counts := make(map[netip.Prefix]int)
	most := 0
	for _, c := range all {
		counts[c.From()]++
		most = max(most, counts[c.From()])
	}
	i := slices.IndexFunc(all, func(c C) bool { return counts[c.From()] == most })
	return all[i] // i >= 0: the caller's list is full
}

// Without returns a list without one of its elements.
func Without[C comparable](all []C, c C) []C {
	if i := slices.Index(all, c); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}

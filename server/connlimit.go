package server

import (
	"net/netip"
	"slices"
	"sync"
)

// maxUnauthenticated is the number of unauthenticated connections of a server. A match has its own limit, see
// host.Options.MaxConnecting.
const maxUnauthenticated = 512

// descriptorShares is the number of equal parts of the process's file descriptors: one for unauthenticated WebSockets,
// one for connections that are not WebSockets, one for spectators, and one for players and files.
const descriptorShares = 4

// unlimitedDescriptors stands for any number of file descriptors.
const unlimitedDescriptors = 1 << 20

// A limitedConn is a connection that counts only by its address.
type limitedConn interface {
	comparable
	from() netip.Prefix
	drop() // closes it at once
}

// A connLimit limits connections, such as the unauthenticated ones. It always admits a new one: at a limit it drops the
// oldest connection of the address that has most. Players are not hurt, because they authenticate in milliseconds.
type connLimit[C limitedConn] struct {
	mu    sync.Mutex
	max   int
	conns []C // the oldest first
}

// most returns the number of connections that the limit allows in all.
func (l *connLimit[C]) most() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.max
}

// add adds a connection. It drops one, and reports that, if the address now has more than maxOfAddress or if there are
// more than max in all.
func (l *connLimit[C]) add(c C, maxOfAddress int) (dropped bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, c)
	var victim C
	if n, oldest := countFrom(l.conns, c.from()); n > maxOfAddress {
		victim = oldest
	} else if len(l.conns) > l.max {
		victim = oldestOfFullest(l.conns)
	} else {
		return false
	}
	l.conns = without(l.conns, victim)
	victim.drop()
	return true
}

// crowded reports whether one more connection of an address would drop another one.
func (l *connLimit[C]) crowded(addr netip.Prefix, maxOfAddress int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, _ := countFrom(l.conns, addr)
	return n >= maxOfAddress || len(l.conns) >= l.max
}

// resize changes the limits, and drops the connections beyond them. ofAddress returns the one of a connection's address.
func (l *connLimit[C]) resize(all int, ofAddress func(C) int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.max = all
	for _, c := range slices.Clone(l.conns) {
		victim := c
		if n, oldest := countFrom(l.conns, c.from()); n > ofAddress(c) {
			victim = oldest
		} else if len(l.conns) > l.max {
			victim = oldestOfFullest(l.conns)
		} else {
			continue
		}
		l.conns = without(l.conns, victim)
		victim.drop()
	}
}

// remove removes a connection that has closed, or that this limit no longer concerns.
func (l *connLimit[C]) remove(c C) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = without(l.conns, c)
}

// countFrom returns the number of connections of an address, and the oldest one.
func countFrom[C limitedConn](all []C, from netip.Prefix) (n int, oldest C) {
	for _, c := range all {
		if c.from() == from {
			if n++; n == 1 {
				oldest = c
			}
		}
	}
	return n, oldest
}

// oldestOfFullest returns the oldest connection of the address that has most. Of addresses with equally many, it is
// the one with the oldest connection.
func oldestOfFullest[C limitedConn](all []C) C {
	counts := make(map[netip.Prefix]int)
	most := 0
	for _, c := range all {
		counts[c.from()]++
		most = max(most, counts[c.from()])
	}
	i := slices.IndexFunc(all, func(c C) bool { return counts[c.from()] == most })
	return all[i] // i >= 0: the caller's list is full
}

func without[C comparable](all []C, c C) []C {
	if i := slices.Index(all, c); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}

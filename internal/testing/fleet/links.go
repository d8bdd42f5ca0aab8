//go:build unix

package fleet

import (
	"io"
	"net"
	"sync"
)

// A link is one way to a node: from another one, through this process, which can cut it.
type link struct {
	from, to int
	target   string
	listener net.Listener

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// connect makes the links between nodes, a pair of them for each two.
func (f *Fleet) connect() error {
	if !f.o.Links {
		return nil
	}
	for from := range f.o.Nodes {
		for to := range f.o.Nodes {
			if from == to {
				continue
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			x := &link{from: from, to: to, target: f.routes[to], listener: l, conns: make(map[net.Conn]bool)}
			f.links = append(f.links, x)
			go x.serve()
		}
	}
	return nil
}

// routesOf returns the flags with which a node finds the others. With links it tells nobody where it listens really: they
// would connect there, past the links. Port 1 refuses connections.
func (f *Fleet) routesOf(i int) (flags []string) {
	if !f.o.Links {
		for _, r := range f.routes {
			flags = append(flags, "--route", r)
		}
		return flags
	}
	for _, l := range f.links {
		if l.from == i {
			flags = append(flags, "--route", l.listener.Addr().String())
		}
	}
	return append(flags, "--cluster-advertise", "127.0.0.1:1")
}

// CutOff cuts a node off from the other nodes, in both directions. Its clients stay.
func (f *Fleet) CutOff(node int) {
	for _, l := range f.links {
		if l.from == node || l.to == node {
			l.set(true)
		}
	}
}

// Heal connects all nodes again.
func (f *Fleet) Heal() {
	for _, l := range f.links {
		l.set(false)
	}
}

// set cuts the link and its connections, or lets new ones through.
func (l *link) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut = cut; cut {
		for c := range l.conns {
			c.Close()
		}
	}
}

// close ends the link.
func (l *link) close() {
	l.listener.Close()
	l.set(true)
}

// serve accepts connections until close.
func (l *link) serve() {
	for {
		c, err := l.listener.Accept()
		if err != nil {
			return
		}
		go l.pass(c)
	}
}

// pass carries what comes over a connection to the target, and back.
func (l *link) pass(c net.Conn) {
	defer c.Close()
	t, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer t.Close()
	if !l.hold(c) {
		return
	}
	defer l.drop(c)
	go func() {
		io.Copy(t, c)
		t.Close()
	}()
	io.Copy(c, t)
}

// hold notes a connection, unless the link is cut.
func (l *link) hold(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut {
		l.conns[c] = true
	}
	return !l.cut
}

func (l *link) drop(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

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

// newLinks makes the links between nodes, a pair of them for each two.
func newLinks(nodes []string) (all []*link, err error) {
	for from := range nodes {
		for to, target := range nodes {
			if from == to {
				continue
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return all, err
			}
			x := &link{from: from, to: to, target: target, listener: l, conns: make(map[net.Conn]bool)}
			all = append(all, x)
			go x.serve()
		}
	}
	return all, nil
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

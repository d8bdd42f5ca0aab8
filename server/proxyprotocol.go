package server

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/pires/go-proxyproto"
)

const (
	// proxyHeaderTime is the time that a proxy has for the header of a connection.
	proxyHeaderTime = 5 * time.Second

	// maxProxyHeaders is the number of connections whose header has not arrived yet. Further ones wait.
	maxProxyHeaders = 512
)

// A headerListener reads the header of the PROXY protocol from the connections of trusted proxies. It reads them
// concurrently, so a slow proxy delays nobody. Other connections are passed on as they are.
type headerListener struct {
	net.Listener
	server *Server

	start    sync.Once
	stop     func()
	stopped  chan struct{}
	accepted chan acceptedConn
	reading  chan struct{} // holds a value for each connection whose header is awaited
}

// An acceptedConn is the result of an Accept.
type acceptedConn struct {
	net.Conn
	err error
}

func (s *Server) readHeaders(l net.Listener) net.Listener {
	stopped := make(chan struct{})
	return &headerListener{
		Listener: l, server: s, stopped: stopped, stop: sync.OnceFunc(func() { close(stopped) }),
		accepted: make(chan acceptedConn), reading: make(chan struct{}, maxProxyHeaders),
	}
}

// Accept implements [net.Listener].
func (l *headerListener) Accept() (net.Conn, error) {
	l.start.Do(func() { go l.acceptAll() })
	select {
	case c := <-l.accepted:
		return c.Conn, c.err
	case <-l.stopped:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *headerListener) Close() error {
	l.stop()
	return l.Listener.Close()
}

func (l *headerListener) acceptAll() {
	for {
		c, err := l.Listener.Accept()
		if err != nil || !l.server.proxies.Include(c.RemoteAddr().String()) {
			if !l.pass(c, err) || errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		select {
		case l.reading <- struct{}{}:
			go l.readHeader(c)
		case <-l.stopped:
			c.Close()
			return
		}
	}
}

// readHeader passes on a connection once its header has arrived.
func (l *headerListener) readHeader(c net.Conn) {
	p := proxyproto.NewConn(c, proxyproto.WithPolicy(proxyproto.REQUIRE), proxyproto.SetReadHeaderTimeout(proxyHeaderTime))
	p.RemoteAddr()
	<-l.reading
	if p.ProxyHeader() == nil {
		l.server.turned.away("proxy header", c.RemoteAddr().String())
		c.Close()
		return
	}
	l.pass(p, nil)
}

// pass gives a connection or an error to Accept. It reports false, and closes the connection, if the listener is closed.
func (l *headerListener) pass(c net.Conn, err error) bool {
	select {
	case l.accepted <- acceptedConn{c, err}:
		return true
	case <-l.stopped:
		if c != nil {
			c.Close()
		}
		return false
	}
}

// belowHeader returns the connection from which a header was read.
func belowHeader(c net.Conn) net.Conn {
	if p, ok := c.(*proxyproto.Conn); ok {
		return p.Raw()
	}
	return c
}

//go:build !js

package tool

import (
	"context"
	"net"
	"net/http"
	"os"
	"syscall"

	"github.com/seed-49bee653/samestep/lockstep/netsim"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// hangup lists the signals at which files are read again.
var hangup = []os.Signal{syscall.SIGHUP}

// through makes a client's connections go through a link, and passes each to made.
func through(l netsim.Link, made func(*netsim.Conn)) func(net.Conn) net.Conn {
	return func(c net.Conn) net.Conn {
		conn := netsim.Wrap(c, l)
		made(conn)
		return conn
	}
}

// within returns an HTTP client that connects to a server of this program.
func within(s *server.Server) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, // each client has one connection
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return s.Dial(ctx) },
	}}
}

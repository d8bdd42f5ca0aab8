//go:build !js

package live

import (
	"net"

	"github.com/seed-49bee653/samestep/kit/netsim"
)

// through makes a client's connections go through a link, and passes each to made.
func through(l netsim.Link, made func(*netsim.Conn)) func(net.Conn) net.Conn {
	return func(c net.Conn) net.Conn {
		conn := netsim.Wrap(c, l)
		made(conn)
		return conn
	}
}

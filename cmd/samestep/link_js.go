package main

import (
	"github.com/seed-49bee653/samestep/lockstep/netsim"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// through returns nil: the browser owns the connection below a WebSocket.
func through(netsim.Link, func(*netsim.Conn)) func(any) any { return nil }

// within returns nil: there are no servers in browsers.
func within(*server.Server) *struct{} { return nil }

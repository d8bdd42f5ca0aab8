package main

import (
	"github.com/seed-49bee653/samestep/lockstep/netsim"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// through returns nothing: what is beneath a WebSocket is the browser's.
func through(netsim.Link, func(*netsim.Conn)) func(any) any { return nil }

// within returns nothing: a browser has no server in it.
func within(*server.Server) *struct{} { return nil }

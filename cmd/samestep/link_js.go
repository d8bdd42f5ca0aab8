package main

import "github.com/seed-49bee653/samestep/lockstep/netsim"

// through returns nothing: what is beneath a WebSocket is the browser's.
func through(netsim.Link, func(*netsim.Conn)) func(any) any { return nil }

// anyCertificate returns nothing: the browser looks at certificates.
func anyCertificate() *struct{} { return nil }

//go:build !js

package main

import (
	"crypto/tls"
	"net"
	"net/http"

	"github.com/seed-49bee653/samestep/lockstep/netsim"
)

// through puts a link around each connection of a client, and tells made of it.
func through(l netsim.Link, made func(*netsim.Conn)) func(net.Conn) net.Conn {
	return func(c net.Conn) net.Conn {
		conn := netsim.Wrap(c, l)
		made(conn)
		return conn
	}
}

// anyCertificate returns what makes connections to a server that proves nothing.
func anyCertificate() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}

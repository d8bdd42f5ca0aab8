//go:build !js

package client

import (
	"net"
	"net/http"
)

// The options differ in a browser, which has its own network.
type (
	httpClient = http.Client
	netConn    = net.Conn
	packetConn = net.PacketConn
)

const (
	sliceTime = 0 // no end
	budget    = 0 // the client's default
)

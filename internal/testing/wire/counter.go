package wire

import (
	"io"
	"net"
	"sync/atomic"
)

// A counter counts what is written as packets of TCP.
type counter struct {
	io.Writer
	bytes *atomic.Int64
}

func (c counter) Write(b []byte) (int, error) {
	c.bytes.Add(int64(len(b) + tcpHeaders))
	return c.Writer.Write(b)
}

// A packetCounter counts what is read as packets of UDP.
type packetCounter struct {
	net.PacketConn
	bytes *atomic.Int64
}

func (c packetCounter) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := c.PacketConn.ReadFrom(b)
	c.bytes.Add(int64(n + udpHeaders))
	return n, from, err
}

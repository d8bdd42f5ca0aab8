package server

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/webtransport-go"

	"github.com/seed-49bee653/samestep/internal/buffer"
)

const (
	// maxUnnamedPaths is the number of paths of a server that have not named their connection.
	maxUnnamedPaths = 256

	// maxPathQueue is the number of datagrams that wait for a path. Others are lost.
	maxPathQueue = 8
)

// Codes of a closed QUIC connection. Those of HTTP/3 begin at 0x100.
const (
	pathUnbound quic.ApplicationErrorCode = iota + 0x10 // no connection of the match has the session
	pathClosed                                          // the connection has another path, or is closed
	pathCrowd                                           // too many connections that have not named theirs
)

// A path is a QUIC connection with one WebTransport session, which carries the datagrams of a match's connection.
type path struct {
	quic    *quic.Conn
	addr    netip.Prefix
	used    atomic.Bool           // its one request has come
	session *webtransport.Session // nil before
	out     chan *buffer.Buffer   // to be sent

	bindTimer *time.Timer // closes it if it does not name its connection
}

// From implements [crowd.Conn].
func (p *path) From() netip.Prefix { return p.addr }

// Drop implements [crowd.Conn].
func (p *path) Drop() { go p.quic.CloseWithError(pathCrowd, "too many connections") } // it may wait

// close closes the path of a connection that is closed, or has another one. It may be nil.
func (p *path) close() {
	if p != nil {
		go p.quic.CloseWithError(pathClosed, "") // it may wait
	}
}

// write sends datagrams until the path is closed.
func (p *path) write() {
	for {
		select {
		case b := <-p.out:
			p.session.SendDatagram(b.Bytes) // one that is too large for the network is lost
			buffers.Put(b)
		case <-p.session.Context().Done():
			return
		}
	}
}

// keepBuffer is the memory that a connection keeps for its next message, in bytes.
const keepBuffer = 4 << 10

// buffers reuses the memory of messages between a client's socket and its match.
var buffers = buffer.Pool{Keep: keepBuffer}

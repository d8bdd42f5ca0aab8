//go:build !js

package mirror

import (
	"log/slog"
	"net/netip"

	"github.com/coder/websocket"

	"github.com/seed-49bee653/samestep/internal/buffer"
	"github.com/seed-49bee653/samestep/internal/logged"
	"github.com/seed-49bee653/samestep/internal/wsmatch"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

const (
	// keepBuffer is the memory that a connection keeps for its next message, in bytes.
	keepBuffer = 1 << 10

	// maxQueued is the number of messages that wait for a socket, besides the one being written. Others stay in the ring.
	maxQueued = 2

	// gone is what spectators are told by a match without a goroutine.
	gone = "the mirror follows the match no more"
)

// buffers reuses the memory of messages between a socket and its match.
var buffers = buffer.Pool{Keep: 4 << 10}

// A conn is the WebSocket of a spectator.
type conn struct {
	*wsmatch.Conn
	match *Match
	ws    *websocket.Conn
	id    host.PeerID // used by the match's goroutine only
	addr  netip.Prefix

	remote  string // its address, for the log
	session string // its id
	agent   string // the name that the client's program gives itself
	joined  bool   // it was welcomed; used by the match's goroutine only
}

// log returns the log of the connection.
func (c *conn) log() *slog.Logger {
	return logged.Session(c.match.log(), c.session).With("address", c.remote)
}

// Received implements [wsmatch.Match].
func (c *conn) Received(b *buffer.Buffer) bool { return c.match.post(input{conn: c, data: b}) }

// More implements [wsmatch.Match].
func (c *conn) More() bool { return c.match.post(input{conn: c}) }

// Closed implements [wsmatch.Match].
func (c *conn) Closed() bool { return c.match.post(input{conn: c, closed: true}) }

// Next implements [wsmatch.Match].
func (c *conn) Next(dst []byte) []byte { return c.match.a.Send(c.id, dst) }

// feed moves messages from the audience to the socket. The match's goroutine calls it.
func (c *conn) feed() {
	c.Feed()
	if _, reason, closed := c.match.a.Closed(c.id); closed {
		c.Finish(reason)
	}
}

// serve reads and writes until the socket is closed.
func (c *conn) serve() {
	if !c.match.post(input{conn: c, opened: true}) {
		c.ws.Close(websocket.StatusGoingAway, gone)
		return
	}
	c.Serve()
}

//go:build !js

package server_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// An attackerConn is a connection of an attacker.
type attackerConn struct {
	net.Conn
	attacker *attacker
	raw      *raw
	upward   bool          // asked for a WebSocket
	gate     chan struct{} // holds a value while it reads
	deaf     bool
	duel     bool          // in the match of the honest players
	turn     chan struct{} // holds a value while somebody writes; a mutex would stop virtual time

	position atomic.Uint64 // of the stream
}

// conn returns a connection, the latest for 0. There is always one.
func (m *attacker) conn(a byte) *attackerConn {
	if len(m.conns) == 0 {
		return m.open(m.address(0), m.upgrade(0), true)
	}
	return m.conns[len(m.conns)-1-int(a%64)%len(m.conns)]
}

// open opens a connection, and sends its first bytes.
func (m *attacker) open(address string, first []byte, upward bool) *attackerConn {
	if len(m.conns) >= attackConns {
		m.conns[0].close()
		m.conns = m.conns[1:]
	}
	socket, err := m.s.pipes.dialFrom(address + ":1")
	if err != nil {
		m.t.Fatal(err)
	}
	c := &attackerConn{Conn: socket, attacker: m, raw: m.s.newRaw(m.t), upward: upward, duel: bytes.Contains(first, []byte("/duel/")), gate: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
	c.gate <- struct{}{}
	c.raw.send = func(b []byte) { c.write(whole(fin|binOp, b)) }
	m.conns = append(m.conns, c)
	m.readers.Go(c.read)
	c.write(first)
	return c
}

// write sends bytes, unless the server is slow to receive them.
func (c *attackerConn) write(b []byte) {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	c.SetWriteDeadline(time.Now().Add(mobWrite))
	if _, err := c.Write(b); errors.Is(err, os.ErrDeadlineExceeded) {
		c.attacker.count("unread")
	}
}

func (c *attackerConn) close() {
	c.Close()
	c.listen(true)
}

// listen makes a connection read, or stop reading.
func (c *attackerConn) listen(on bool) {
	switch {
	case on && c.deaf:
		c.gate <- struct{}{}
	case !on && !c.deaf:
		<-c.gate
	}
	c.deaf = !on
}

// Read implements net.Conn. It waits while the connection does not read.
func (c *attackerConn) Read(b []byte) (int, error) {
	<-c.gate
	c.gate <- struct{}{}
	return c.Conn.Read(b)
}

// read handles received messages, and answers as a client does.
func (c *attackerConn) read() {
	defer c.Close()
	m, r := c.attacker, bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		m.count("cut off")
		return
	}
	m.count(resp.Status[:3])
	if !c.upward || resp.StatusCode != 101 {
		io.Copy(io.Discard, r)
		return
	}
	acked := lockstep.Tick(0)
	for {
		op, p := readFrame(r)
		switch op {
		case 0xff:
			return
		case closed:
			if len(p) >= 2 {
				m.count(fmt.Sprint("closed ", binary.BigEndian.Uint16(p)))
			}
			c.write(whole(fin|closed, p))
		case binOp:
			welcomed := c.raw.welcome != nil
			if c.raw.take(bytes.Clone(p)); !welcomed && c.raw.welcome != nil {
				m.welcomed(c.raw.welcome, c.duel)
			}
			c.position.Store(uint64(c.raw.position))
			if c.raw.closing != nil {
				m.count(fmt.Sprint("closing ", protocol.CloseCode(c.raw.closing.Code)))
				c.raw.closing = nil
			}
			if c.raw.tick >= acked+10 {
				acked = c.raw.tick
				c.raw.ack()
			}
		}
	}
}

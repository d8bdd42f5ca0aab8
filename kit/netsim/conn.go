// Package netsim simulates a bad network on a good connection: latency, jitter, packet loss, a limited rate, stalls and
// cuts. With the same seed, the same sequence of writes gets the same delays.
//
// It tests a game on the networks of its players, with the production code: wrap the connection that a client dials.
//
//	link, err := netsim.Parse("delay=80ms jitter=20ms loss=1% rate=64KiB seed=7")
//	conn = netsim.Wrap(conn, link)
//
// A connection is an ordered stream, so a lost packet arrives after a retransmission, and everything behind it waits. [WrapPacket] is
// for datagrams: a lost packet never arrives, and nothing waits for it.
package netsim

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

const (
	packetSize = 1400 // bytes that are delayed or lost together
	maxQueued  = 256  // packets in flight in one direction; more block the writer
)

// A Conn is a connection over a simulated link. Like any net.Conn, it is safe for concurrent use.
type Conn struct {
	net.Conn // one end of a pipe; two directions copy between the other end and real
	real     net.Conn
	up, down *direction
	once     sync.Once
	closed   chan struct{}
}

// Wrap returns conn over a link. When the returned connection is closed, conn is closed after the written bytes have
// arrived.
func Wrap(conn net.Conn, l Link) *Conn {
	ours, theirs := net.Pipe()
	c := &Conn{Conn: ours, real: conn, closed: make(chan struct{})}
	c.up = newDirection(l, 1)
	c.down = newDirection(l, 2)
	go c.up.read(theirs, c.closed)
	go c.up.deliver(conn, c.closed, func() { conn.Close(); c.end() })
	go c.down.read(conn, c.closed)
	go c.down.deliver(theirs, c.closed, func() { theirs.Close() })
	return c
}

// LocalAddr returns the address of the wrapped connection.
func (c *Conn) LocalAddr() net.Addr { return c.real.LocalAddr() }

// RemoteAddr returns the remote address of the wrapped connection.
func (c *Conn) RemoteAddr() net.Addr { return c.real.RemoteAddr() }

// Stall stops delivery upstream (bytes that we send) or downstream while its argument is true. Both ways it is
// a clogged link, one way a half-open connection.
func (c *Conn) Stall(up, down bool) {
	c.up.stall(up)
	c.down.stall(down)
}

// Cut ends the connection at once. Bytes in flight are lost.
func (c *Conn) Cut() {
	c.end()
	c.real.Close()
	c.Conn.Close()
}

func (c *Conn) end() { c.once.Do(func() { close(c.closed) }) }

type packet struct {
	data []byte
	due  time.Time
}

type direction struct {
	link  Link
	rand  *rand.Rand
	queue chan packet
	last  time.Time // arrival of the previous packet
	free  time.Time // when the link has sent the previous packet

	mu   sync.Mutex
	open chan struct{} // closed unless the direction is stalled
}

func newDirection(l Link, stream uint64) *direction {
	open := make(chan struct{})
	close(open)
	return &direction{link: l, rand: rand.New(rand.NewPCG(l.Seed, stream)), queue: make(chan packet, maxQueued), open: open}
}

// read queues the bytes of r as packets.
func (d *direction) read(r io.Reader, closed <-chan struct{}) {
	defer close(d.queue)
	for {
		b := make([]byte, packetSize)
		n, err := r.Read(b)
		if n > 0 {
			select {
			case d.queue <- packet{b[:n], d.due(n)}:
			case <-closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// due returns the arrival of a packet of n bytes that is sent now, which is never before the previous one's.
func (d *direction) due(n int) time.Time {
	now := time.Now()
	if d.link.Rate > 0 {
		d.free = later(d.free, now).Add(time.Duration(int64(n) * int64(time.Second) / d.link.Rate))
		now = d.free
	}
	wait := d.link.Delay
	if d.link.Jitter > 0 {
		wait += time.Duration(d.rand.Int64N(int64(d.link.Jitter) + 1))
	}
	for d.link.Loss > 0 && d.rand.Uint32N(1_000_000) < d.link.Loss {
		wait += d.link.retransmit()
	}
	d.last = later(d.last, now.Add(wait))
	return d.last
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// deliver writes packets to w when they are due, and calls end after the last one.
func (d *direction) deliver(w io.Writer, closed <-chan struct{}, end func()) {
	defer end()
	for p := range d.queue {
		if !d.wait(time.Until(p.due), closed) {
			return
		}
		if _, err := w.Write(p.data); err != nil {
			return
		}
	}
}

// wait waits for a duration and while the direction is stalled. It reports false if the connection closes.
func (d *direction) wait(t time.Duration, closed <-chan struct{}) bool {
	if t > 0 {
		timer := time.NewTimer(t)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-closed:
			return false
		}
	}
	d.mu.Lock()
	open := d.open
	d.mu.Unlock()
	select {
	case <-open:
		return true
	case <-closed:
		return false
	}
}

func (d *direction) stall(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.open:
		if on {
			d.open = make(chan struct{})
		}
	default:
		if !on {
			close(d.open)
		}
	}
}

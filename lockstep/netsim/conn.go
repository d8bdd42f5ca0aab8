package netsim

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

const (
	packetSize = 1400 // bytes that share one fate
	maxQueued  = 256  // packets on the way in one direction; a writer then waits
)

// A Conn is a connection over a bad link. It is safe for concurrent use as any
// net.Conn is.
type Conn struct {
	net.Conn // our end of a pipe; the other end is moved by two directions
	real     net.Conn
	up, down *direction
	once     sync.Once
	closed   chan struct{}
}

// Wrap returns conn over a link. Closing the returned connection closes conn,
// after what was written has arrived.
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

// RemoteAddr returns the address of the wrapped connection's other end.
func (c *Conn) RemoteAddr() net.Addr { return c.real.RemoteAddr() }

// Hold lets nothing arrive, up (what we send) or down, until it is called again
// with false: a clogged link, or, one way, a half-open connection.
func (c *Conn) Hold(up, down bool) {
	c.up.hold(up)
	c.down.hold(down)
}

// Cut ends the connection at once. What was on the way is lost.
func (c *Conn) Cut() {
	c.end()
	c.real.Close()
	c.Conn.Close()
}

func (c *Conn) end() { c.once.Do(func() { close(c.closed) }) }

// A packet is some bytes on the way, and when they arrive.
type packet struct {
	data []byte
	due  time.Time
}

// A direction moves bytes one way.
type direction struct {
	link  Link
	rand  *rand.Rand
	queue chan packet
	last  time.Time // when the packet before is due
	free  time.Time // when the link has sent the packet before

	mu   sync.Mutex
	held chan struct{} // closed when nothing is held
}

func newDirection(l Link, stream uint64) *direction {
	open := make(chan struct{})
	close(open)
	return &direction{link: l, rand: rand.New(rand.NewPCG(l.Seed, stream)), queue: make(chan packet, maxQueued), held: open}
}

// read takes bytes from r and sends them off.
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

// due returns when a packet of n bytes that is sent now arrives: never before
// the one before it.
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

// deliver writes to w what is due, and calls end when there is no more.
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

// wait waits for a time, and until nothing is held. It reports false if the
// connection was closed meanwhile.
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
	held := d.held
	d.mu.Unlock()
	select {
	case <-held:
		return true
	case <-closed:
		return false
	}
}

func (d *direction) hold(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.held: // nothing is held
		if on {
			d.held = make(chan struct{})
		}
	default:
		if !on {
			close(d.held)
		}
	}
}

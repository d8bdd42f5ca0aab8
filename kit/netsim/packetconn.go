package netsim

import (
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// A PacketConn is a packet connection, such as a UDP socket, behind a simulated link: what it sends and what it gets is late, in
// another order, or lost. It is safe for concurrent use.
type PacketConn struct {
	net.PacketConn
	link  Link
	in    chan received
	ended chan struct{} // closed when the connection below gives no more packets
	err   error         // why; valid when ended is closed

	mu       sync.Mutex
	rand     *rand.Rand
	losing   [2]map[string]int // packets that are lost in the present burst, each way, by the address of the other end
	up, down bool
	free     [2]time.Time // when the link has sent the previous packet, each way
}

const (
	// maxLateness is how late a packet may be because of the rate. A longer queue drops it, as a router does.
	maxLateness = time.Second

	// maxBursts is how many addresses can be within a burst; others end theirs early.
	maxBursts = 1 << 12
)

// A received packet.
type received struct {
	b    []byte
	from net.Addr
}

// The ways of a link.
const (
	downWay = iota
	upWay
)

// WrapPacket puts a link around a packet connection. Each packet has the delay, the jitter and the chance to be lost of the link, alone
// or with those that follow in a burst from or to the same address; Timeout does not matter, because nothing sends it again.
func WrapPacket(conn net.PacketConn, l Link) *PacketConn {
	c := &PacketConn{PacketConn: conn, link: l, in: make(chan received, maxQueued), ended: make(chan struct{}), rand: rand.New(rand.NewPCG(l.Seed, 2))}
	c.losing = [2]map[string]int{{}, {}}
	go c.read()
	return c
}

// Stall loses all packets that the connection gets (up), and all that it sends (down), until another call.
func (c *PacketConn) Stall(up, down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up, c.down = up, down
}

func (c *PacketConn) read() {
	defer close(c.ended)
	b := make([]byte, 1<<16)
	for {
		n, from, err := c.PacketConn.ReadFrom(b)
		if err != nil {
			c.err = err
			return
		}
		p := received{append([]byte(nil), b[:n]...), from}
		c.carry(upWay, n, from, func() {
			select {
			case c.in <- p:
			default:
			}
		})
	}
}

// carry calls arrive when a packet of n bytes is at the other end, or not at all.
func (c *PacketConn) carry(way, n int, other net.Addr, arrive func()) {
	key := ""
	if other != nil {
		key = other.String()
	}
	wait, ok := c.lateness(way, n, key)
	switch {
	case !ok:
	case wait <= 0:
		arrive()
	default:
		time.AfterFunc(wait, arrive)
	}
}

// lateness returns how long a packet takes, and false if it is lost.
func (c *PacketConn) lateness(way, n int, other string) (wait time.Duration, arrives bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if way == upWay && c.up || way == downWay && c.down {
		return 0, false
	}
	if c.loses(c.losing[way], other) {
		return 0, false
	}
	wait = c.link.Delay
	if c.link.Jitter > 0 {
		wait += time.Duration(c.rand.Int64N(int64(c.link.Jitter) + 1))
	}
	if c.link.Rate > 0 {
		now := time.Now()
		c.free[way] = later(c.free[way], now).Add(time.Duration(int64(n) * int64(time.Second) / c.link.Rate))
		queue := c.free[way].Sub(now)
		if queue > maxLateness {
			c.free[way] = now.Add(maxLateness)
			return 0, false
		}
		wait += queue
	}
	return wait, true
}

// loses reports whether a packet is lost: it is in a burst, or begins one.
func (c *PacketConn) loses(losing map[string]int, other string) bool {
	if n, in := losing[other]; in {
		if losing[other] = n - 1; n == 1 {
			delete(losing, other)
		}
		return true
	}
	burst := max(c.link.Burst, 1)
	if c.link.Loss == 0 || c.rand.Uint32N(1_000_000) >= c.link.Loss/uint32(burst) {
		return false
	}
	if len(losing) == maxBursts {
		clear(losing)
	}
	if burst > 1 {
		losing[other] = burst - 1
	}
	return true
}

// ReadFrom implements [net.PacketConn].
func (c *PacketConn) ReadFrom(b []byte) (n int, from net.Addr, err error) {
	select {
	case p := <-c.in:
		return copy(b, p.b), p.from, nil
	case <-c.ended:
		return 0, nil, c.err
	}
}

// WriteTo implements [net.PacketConn].
func (c *PacketConn) WriteTo(b []byte, to net.Addr) (int, error) {
	own := append([]byte(nil), b...)
	c.carry(downWay, len(b), to, func() { c.PacketConn.WriteTo(own, to) })
	return len(b), nil
}

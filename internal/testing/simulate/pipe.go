package simulate

import (
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// never is a time after all others.
const never = lockstep.Time(1) << 60

// packetSize is the number of bytes that are lost or delayed together.
const packetSize = 1400

// A pipe is one direction of a connection. It delays messages and keeps their order.
type pipe struct {
	link  Link
	rand  *rand.Rand
	extra lockstep.Time // added to the delay
	queue []arrival
	head  int
	size  int           // bytes in flight
	last  lockstep.Time // arrival of the last message
	free  lockstep.Time // when the link has sent all
	stuck bool          // nothing arrives while set
	hole  bool          // messages are lost while set
	eof   bool          // closed: the other side sees it after the last message
}

type arrival struct {
	at lockstep.Time
	b  []byte
}

// send sends a copy of a message, in memory from spare.
func (p *pipe) send(now lockstep.Time, b []byte, spare *[][]byte) {
	if p.hole || p.eof {
		return
	}
	at := now
	if p.link.Rate > 0 {
		p.free = max(p.free, now) + lockstep.Time(int64(len(b))*int64(lockstep.Second)/p.link.Rate)
		at = p.free
	}
	at += p.link.Delay + p.extra
	if p.link.Jitter > 0 {
		at += lockstep.Time(p.rand.Int64N(int64(p.link.Jitter) + 1))
	}
	if p.link.Loss > 0 {
		wait := max(200*lockstep.Millisecond, 2*p.link.Delay)
		for sent := 0; sent < len(b); sent += packetSize {
			for again := wait; p.rand.Uint32N(1_000_000) < p.link.Loss && again < 8*wait; again *= 2 {
				at += again
			}
		}
	}
	p.last = max(p.last, at)
	var copied []byte
	if n := len(*spare); n > 0 {
		copied, *spare = (*spare)[n-1][:0], (*spare)[:n-1]
	}
	if p.head > 0 && len(p.queue) == cap(p.queue) {
		n := copy(p.queue, p.queue[p.head:])
		p.queue, p.head = p.queue[:n], 0
	}
	p.queue = append(p.queue, arrival{p.last, append(copied, b...)})
	p.size += len(b)
}

func (p *pipe) empty() bool { return p.head == len(p.queue) }

// due returns when the next message or the end arrives.
func (p *pipe) due() lockstep.Time {
	switch {
	case p.stuck:
		return never
	case !p.empty():
		return p.queue[p.head].at
	case p.eof:
		return 0
	}
	return never
}

// take returns the message that arrives.
func (p *pipe) take() []byte {
	b := p.queue[p.head].b
	p.head++
	p.size -= len(b)
	if p.empty() {
		p.queue, p.head = p.queue[:0], 0
	}
	return b
}

// quicken sends all messages in flight again, at the restored rate of the link.
func (p *pipe) quicken(now lockstep.Time) {
	p.free, p.last = now, now
	for i := p.head; i < len(p.queue); i++ {
		a := &p.queue[i]
		a.at = min(a.at, now+p.link.Delay)
		p.last = max(p.last, a.at)
	}
}

// keep drops all messages in flight but the first n.
func (p *pipe) keep(n int) {
	p.queue = p.queue[:min(len(p.queue), p.head+n)]
	p.size = 0
	for _, a := range p.queue[p.head:] {
		p.size += len(a.b)
	}
}

// A wire is one connection. Each side sees its end after all messages have arrived.
type wire struct {
	id           host.PeerID
	server       *server
	epoch        int       // of the server
	m            *machine  // nil for a stranger
	v            *attacker // nil for a stranger that reads nothing
	from         string    // its address
	token        string    // of a stranger or an attacker
	up, down     pipe
	path         *path // of datagrams, or nil
	hostGone     bool  // the host knows that it is closed
	clientGone   bool  // the client knows, or has closed it
	full         bool  // the host has more to send than the socket takes
	deaf         bool  // the client reads nothing
	state        host.PeerState
	tap          tap          // by received messages
	spectatorTap spectatorTap // by sent messages
}

func (w *wire) over() bool { return w.hostGone && w.clientGone }

// cut ends a connection. The given numbers of messages still arrive.
func (w *wire) cut(up, down int) {
	w.up.keep(up)
	w.down.keep(down)
	w.up.eof, w.down.eof = true, true
	w.up.stuck, w.down.stuck = false, false
	w.path.end()
}

// sever makes a connection half-open: nothing arrives, and no side is notified.
func (w *wire) sever() {
	w.up.keep(0)
	w.down.keep(0)
	w.up.hole, w.down.hole = true, true
	w.path.end()
}

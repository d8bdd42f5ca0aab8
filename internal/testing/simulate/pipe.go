package simulate

import (
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// never is a moment that does not come.
const never = lockstep.Time(1) << 60

// packetSize is how many bytes share one fate.
const packetSize = 1400

// A pipe is one direction of a connection: what is sent arrives in order, late.
type pipe struct {
	link  Link
	rand  *rand.Rand
	extra lockstep.Time // added to the delay, for a while
	queue []arrival
	head  int
	size  int           // bytes on their way
	last  lockstep.Time // when the latest arrives
	free  lockstep.Time // when the link has sent it
	stuck bool          // nothing arrives until it is freed
	hole  bool          // what is sent is lost
	eof   bool          // nothing more is sent; when all has arrived, the other side sees it
}

type arrival struct {
	at lockstep.Time
	b  []byte
}

// send takes a message, of which it keeps a copy in memory from spare.
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

// due returns when the next message, or the end, arrives.
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

// quicken makes what is on its way arrive as if it was sent now, over a link that
// has its rate again.
func (p *pipe) quicken(now lockstep.Time) {
	p.free, p.last = now, now
	for i := p.head; i < len(p.queue); i++ {
		a := &p.queue[i]
		a.at = min(a.at, now+p.link.Delay)
		p.last = max(p.last, a.at)
	}
}

// keep loses all that is on its way but the first n messages.
func (p *pipe) keep(n int) {
	p.queue = p.queue[:min(len(p.queue), p.head+n)]
	p.size = 0
	for _, a := range p.queue[p.head:] {
		p.size += len(a.b)
	}
}

// A wire is one connection. Each side learns that it is over when all that was
// sent to it before has arrived.
type wire struct {
	id         host.PeerID
	epoch      int      // of the server that it was made to
	m          *machine // nil for a stranger
	v          *visitor // nil for a stranger who reads nothing
	from       string   // its address
	token      string   // of a stranger, or a visitor
	up, down   pipe
	hostGone   bool // the host has been told
	clientGone bool // the client has been told, or has closed it
	full       bool // the host has more to send than the socket takes
	deaf       bool // the client reads nothing
	state      host.PeerState
	tap        tap     // by what has arrived
	lookout    lookout // by what was sent
}

func (w *wire) over() bool { return w.hostGone && w.clientGone }

// cut ends a connection: so many messages of each direction still arrive.
func (w *wire) cut(up, down int) {
	w.up.keep(up)
	w.down.keep(down)
	w.up.eof, w.down.eof = true, true
	w.up.stuck, w.down.stuck = false, false
}

// sever makes a connection half-open: nothing arrives any more, and nobody is
// told.
func (w *wire) sever() {
	w.up.keep(0)
	w.down.keep(0)
	w.up.hole, w.down.hole = true, true
}

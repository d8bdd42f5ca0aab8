package simulate

import (
	"bytes"
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/player"
)

// A DatagramPlan gives a client a path of datagrams beside its stream, with the delays of its links, and is what is wrong
// with it.
type DatagramPlan struct {
	Loss  uint32        `json:"loss,omitempty"`  // datagrams per million
	Burst lockstep.Time `json:"burst,omitempty"` // after one is lost, all are lost for so long at most
	Twice uint32        `json:"twice,omitempty"` // datagrams per million that come twice
	Late  lockstep.Time `json:"late,omitempty"`  // a datagram comes so much later at most, in any order
	Most  int           `json:"most,omitempty"`  // bytes of the largest that comes; 0: all come
}

func (p *DatagramPlan) valid() bool {
	return p == nil || within(0, longest, p.Burst, p.Late) && p.Loss <= 900_000 && p.Twice <= 900_000 && p.Most >= 0
}

// bad reports whether the path alone can make a client late.
func (p *DatagramPlan) bad() bool { return p != nil && (p.Loss > 0 || p.Late > 0 || p.Most > 0) }

// expandDatagrams gives some clients datagrams, in half of the plans.
func expandDatagrams(p *Plan) {
	if stream(p.Seed, "datagrams", 0).IntN(2) == 0 {
		return
	}
	for i := range p.Machines {
		m, r := &p.Machines[i], stream(p.Seed, "path", i)
		if m.Views || m.Liar || r.IntN(3) == 0 {
			continue
		}
		d := &DatagramPlan{}
		if r.IntN(2) == 0 {
			d.Loss = uint32(r.IntN([]int{50_000, 400_000, 900_000}[r.IntN(3)]))
		}
		if d.Loss > 0 && r.IntN(2) == 0 {
			d.Burst = between(r, 0, 2*sec)
		}
		if r.IntN(3) == 0 {
			d.Twice = uint32(r.IntN(600_000))
		}
		if r.IntN(3) == 0 {
			d.Late = between(r, 0, []lockstep.Time{50 * ms, sec, 20 * sec}[r.IntN(3)])
		}
		if r.IntN(5) == 0 {
			d.Most = 30 + r.IntN(500)
		}
		m.Datagrams = d
	}
}

var datagramKinds = []kind{
	{name: "datagrams lost up", group: "network", perHour: 120, low: 100 * ms, high: 20 * sec, needs: hasDatagrams, inject: func(_ *world, m *machine, _ *Fault) bool {
		m.wire.path.up.hole = true
		return true
	}, restores: func(_ *world, m *machine, _ *Fault) { m.wire.path.up.hole = false }},
	{name: "datagrams lost down", group: "network", perHour: 120, low: 100 * ms, high: 20 * sec, needs: hasDatagrams, inject: func(_ *world, m *machine, _ *Fault) bool {
		m.wire.path.down.hole = true
		return true
	}, restores: func(_ *world, m *machine, _ *Fault) { m.wire.path.down.hole = false }},
}

func hasDatagrams(_ *world, m *machine) bool { return m.wire != nil && m.wire.path != nil }

// A path carries the datagrams of a connection.
type path struct {
	up, down scatter
	ended    bool
	reader   datagram.Reader
	in       datagram.ToPlayer
	early    map[int]bool // records that datagrams have brought and the stream has not, by position; only looked up
}

// A scatter is one direction of a path. It keeps no order.
type scatter struct {
	plan  *DatagramPlan
	delay lockstep.Time
	rand  *rand.Rand
	queue []arrival // in the order in which they were sent
	burst lockstep.Time
	hole  bool // all are lost while set
}

// newPath returns the path of a new connection, or nil.
func (m *machine) newPath() *path {
	if m.plan.Datagrams == nil {
		return nil
	}
	direction := func(l *Link, r *rand.Rand) scatter { return scatter{plan: m.plan.Datagrams, delay: l.trip(), rand: r} }
	return &path{up: direction(&m.plan.Up, m.paths[0]), down: direction(&m.plan.Down, m.paths[1]), early: map[int]bool{}}
}

// send sends a copy of a datagram. After the faults all arrive.
func (p *path) send(w *world, s *scatter, b []byte) {
	for again := true; again; again = w.chaos && s.rand.Uint32N(1_000_000) < s.plan.Twice {
		at := w.now + s.delay
		switch {
		case s.hole || p.ended:
			continue
		case !w.chaos:
		case w.now < s.burst || s.plan.Most > 0 && len(b) > s.plan.Most:
			continue
		case s.rand.Uint32N(1_000_000) < s.plan.Loss:
			s.burst = w.now + between(s.rand, 0, s.plan.Burst)
			continue
		default:
			at += between(s.rand, 0, s.plan.Late)
		}
		s.queue = append(s.queue, arrival{at, bytes.Clone(b)})
	}
}

// first returns the place of the datagram that arrives first; -1 for none.
func (s *scatter) first() int {
	first := -1
	for i := range s.queue {
		if first < 0 || s.queue[i].at < s.queue[first].at {
			first = i
		}
	}
	return first
}

// due returns when the next datagram arrives.
func (s *scatter) due() lockstep.Time {
	if i := s.first(); i >= 0 {
		return s.queue[i].at
	}
	return never
}

// take returns the datagram that arrives.
func (s *scatter) take() []byte {
	i := s.first()
	b := s.queue[i].b
	s.queue = append(s.queue[:i], s.queue[i+1:]...)
	return b
}

// upDue returns when the next datagram arrives at the server.
func (p *path) upDue() lockstep.Time {
	if p == nil {
		return never
	}
	return p.up.due()
}

func (p *path) downDue() lockstep.Time {
	if p == nil {
		return never
	}
	return p.down.due()
}

// end loses all datagrams from now on, as those of a connection that has ended.
func (p *path) end() {
	if p != nil {
		p.up.queue, p.down.queue, p.ended = nil, nil, true
	}
}

// begin forgets what has come early: a state begins the stream anew.
func (p *path) begin() {
	if p != nil {
		clear(p.early)
	}
}

// pullDatagrams sends the host's datagrams for one connection.
func (s *server) pullDatagrams(wire *wire) {
	for wire.path != nil {
		s.buf = s.host.SendDatagram(wire.id, s.buf[:0])
		s.take()
		if len(s.buf) == 0 {
			return
		}
		if s.w.count("datagram to a client"); len(s.buf) > datagram.MaxSize {
			s.w.fail("I5", "%s is sent a datagram of %d bytes", wire.m, len(s.buf))
		}
		if s.owns() {
			s.w.barrier.sentDatagram(s.w, wire, s.buf)
		}
		wire.path.send(s.w, &wire.path.down, s.buf)
		wire.touch()
	}
}

// sentDatagram checks a datagram that the host sends to a spectator, as sent checks a message.
func (c *barrier) sentDatagram(w *world, wire *wire, b []byte) {
	o, p := w.oracle, wire.path
	if c.delay == 0 || o.ended || !wire.m.plan.Spectator {
		return
	}
	if err := p.reader.ToPlayer(&p.in, b); err != nil {
		w.fail("I4", "%v is sent a datagram that is none: %v", wire.m, err)
		return
	}
	now := o.tick()
	for _, r := range p.in.Records {
		if t := o.now().ticks[r.Position]; t > now-min(now, c.delay) {
			w.fail("I12", "a spectator, %v, was sent a datagram with a record of tick %d at tick %d, want %d ticks later", wire.m, t, now, c.delay)
		}
	}
}

// receiveDatagrams lets a server read the datagrams that have arrived.
func (s *server) receiveDatagrams(wire *wire) {
	for wire.path != nil && !wire.hostGone && s.ready() && wire.path.up.due() <= s.w.now {
		b := wire.path.up.take()
		s.w.note(traceUp, wire.m.index, b)
		s.w.budgets.receive(wire, func() {
			s.host.ReceiveDatagram(s.w.now, wire.id, b)
			s.take()
		})
		s.edge(wire)
		s.after()
	}
}

// receiveAll reads what has arrived.
func (m *machine) receiveAll() {
	m.receive()
	m.receiveDatagrams()
}

// receiveDatagrams reads the datagrams that have arrived.
func (m *machine) receiveDatagrams() {
	for m.wire != nil && !m.wire.deaf && m.wire.path.downDue() <= m.w.now {
		wire := m.wire
		b := wire.path.down.take()
		m.heard = m.w.now
		m.w.note(traceDown, m.index, b)
		m.w.oracle.receivedDatagram(wire, b)
		err := m.client.ReceiveDatagram(m.clock(), b)
		m.events()
		if err != nil {
			m.w.fail("I4", "%s cannot read a datagram of the server: %v", m, err)
		}
	}
}

// receivedDatagram checks a datagram that arrives at a client: its records are the log's of its epoch, at their positions.
func (o *oracle) receivedDatagram(w *wire, b []byte) {
	h, p := o.epochs[w.epoch], w.path
	if err := p.reader.ToPlayer(&p.in, b); err != nil {
		o.w.fail("I4", "%s was sent a datagram that is none: %v", w.m, err)
		return
	}
	for _, r := range p.in.Records {
		at := int(r.Position)
		if at >= len(h.records) || !bytes.Equal(r.Bytes, h.records[at]) {
			o.w.fail("I4", "%s was sent a datagram with another record %d than the log has (%d records)", w.m, at, len(h.records))
			return
		}
		if w.epoch == len(o.epochs)-1 {
			o.shown = max(o.shown, h.ticks[at])
		}
		if o.w.cluster != nil {
			o.w.cluster.log.saw(o.w, w.m, at, r.Bytes)
		}
		if w.tap.at > 0 && at >= w.tap.at {
			p.early[at] = true
		}
	}
}

// next returns the position of the first record that has not arrived at the client, by any way.
func (w *wire) next() int {
	at := w.tap.at
	for w.path != nil && w.path.early[at] {
		at++
	}
	return at
}

// arrived checks that a client waits for no record that has arrived, by the stream or by a datagram: each tick whose record is there, with
// all before it, has run or is about to.
func (m *machine) arrived() {
	wire := m.wire
	if wire == nil || wire.path == nil || wire.tap.at == 0 || m.stage != player.StageLive && m.stage != player.StageCatchingUp {
		return
	}
	at, h := wire.next(), m.w.oracle.epochs[wire.epoch]
	if s := m.client.Status(); s.Stage == m.stage && s.Tick+s.Backlog < h.ticks[at-1] {
		m.w.fail("I22", "%s waits at tick %d with %d more, and all records of tick %d have arrived", m, s.Tick, s.Backlog, h.ticks[at-1])
	}
}

// sendDatagrams sends the client's datagrams.
func (m *machine) sendDatagrams() {
	for m.wire != nil && m.wire.path != nil {
		m.w.buf = m.client.SendDatagram(m.w.buf[:0])
		if len(m.w.buf) == 0 {
			return
		}
		m.w.count("datagram to the server")
		m.wire.path.send(m.w, &m.wire.path.up, m.w.buf)
		m.w.wakeWires = true
	}
}

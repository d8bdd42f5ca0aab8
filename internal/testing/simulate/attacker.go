package simulate

import (
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// An attacker has no client. It speaks as much of the protocol as its attack needs,
// over any number of connections.
type attacker struct {
	w      *world
	fault  *Fault
	attack *attack
	random *rand.Rand
	at     lockstep.Time // when something is due
	next   lockstep.Time // when it acts
	conns  []*attackConn
	opened int // number of connections so far

	bannedUntil lockstep.Time // since it was kicked …
	kickedFrom  string        // … from this address
	writer      protocol.Writer
	out         []byte
}

// An attackConn is one connection of an attacker.
type attackConn struct {
	v       *attacker
	wire    *wire
	token   string
	welcome protocol.Welcome // zero before it has arrived
	synced  bool             // a whole state has arrived
	closed  protocol.CloseCode
	gone    bool
	reader  protocol.Reader
	m       protocol.Message
}

// startAttack starts an attack.
func (w *world) startAttack(h *attack, f *Fault) {
	v := &attacker{w: w, fault: f, attack: h, random: w.dice(f), next: w.now}
	w.attackers = append(w.attackers, v)
}

// stepAttackers lets attackers do what is due.
func (w *world) stepAttackers() {
	for _, v := range w.attackers {
		if v.at <= w.now {
			v.step()
		}
	}
}

// endAttack ends the attack of a fault.
func (w *world) endAttack(f *Fault) {
	w.attackers = slices.DeleteFunc(w.attackers, func(v *attacker) bool {
		if v.fault != f {
			return false
		}
		for _, c := range v.conns {
			c.disconnect()
		}
		return true
	})
}

// due returns when something is due.
func (v *attacker) due() lockstep.Time {
	at := v.next
	for _, c := range v.conns {
		at = min(at, c.wire.down.due())
	}
	return max(at, v.w.now)
}

// step does what is due now.
func (v *attacker) step() {
	for i := 0; i < len(v.conns); i++ { // a closed attacker may connect again
		v.conns[i].receive()
	}
	v.conns = slices.DeleteFunc(v.conns, func(c *attackConn) bool { return c.gone })
	if v.next <= v.w.now {
		v.next = v.w.now + v.attack.every
		v.attack.act(v)
	}
	v.at = v.due()
}

// address returns the address of the attacker's next connection: one of its own, that
// of a machine, or one of many.
func (v *attacker) address() string {
	switch v.fault.N % 3 {
	case 0:
		return v.name()
	case 1:
		return v.w.machines[v.fault.Who].address()
	}
	return v.name() + string(rune('a'+v.opened%8))
}

// address returns the address of the machine.
func (m *machine) address() string { return "home" + number(m.index) }

// name returns the attacker's name.
func (v *attacker) name() string { return "street" + number(v.fault.ID) }

// connect opens a connection, and authenticates unless a is nil.
func (v *attacker) connect(a *protocol.Auth) *attackConn {
	v.opened++
	wire := v.w.server.connect(nil, v.address())
	if wire == nil {
		return nil
	}
	wire.v = v
	wire.up.link, wire.down.link = Link{Delay: ms}, Link{Delay: ms}
	c := &attackConn{v: v, wire: wire}
	v.conns = append(v.conns, c)
	if a != nil {
		c.token, wire.token = a.Token, a.Token
		c.send(&protocol.Message{Kind: protocol.KindAuth, Auth: a})
	}
	return c
}

// connectAs opens a connection with a token.
func (v *attacker) connectAs(token string) *attackConn {
	a := protocol.NewAuth(v.w.subject.Game)
	a.Token = token
	return v.connect(a)
}

func (c *attackConn) send(m *protocol.Message) { c.sendBytes(c.v.writer.Append(c.v.out[:0], m)) }

func (c *attackConn) sendBytes(b []byte) {
	c.wire.up.send(c.v.w.now, b, &c.v.w.spare)
	c.v.w.wakeWires = true
}

// receive reads the messages that have arrived.
func (c *attackConn) receive() {
	w := c.v.w
	for !c.gone && c.wire.down.due() <= w.now {
		if c.wire.down.empty() {
			c.disconnect()
			return
		}
		b := c.wire.down.take()
		c.read(b)
		w.spare = append(w.spare, b)
		if c.wire.full && c.wire.server.ready() && !c.wire.hostGone {
			c.wire.server.pull(c.wire)
		}
	}
}

// read reads the messages before the records.
func (c *attackConn) read(b []byte) {
	for len(b) > 0 && !protocol.IsRecord(b) && !c.gone {
		rest, err := c.reader.Read(&c.m, b)
		if err != nil {
			c.v.w.fail("I4", "%s is sent bytes that are no message: %v", c.v.name(), err)
			return
		}
		b = rest
		switch c.m.Kind {
		case protocol.KindWelcome:
			c.welcome = *c.m.Welcome
			c.run(c.v.attack.welcomed)
		case protocol.KindStateSync:
			if c.m.Offset+uint32(len(c.m.Bytes)) == c.m.Total {
				c.synced = true
				c.run(c.v.attack.synced)
			}
		case protocol.KindPing:
			c.send(&protocol.Message{Kind: protocol.KindPong, Nonce: c.m.Nonce})
		case protocol.KindClosing:
			c.closed = protocol.CloseCode(c.m.Code)
			c.run(c.v.attack.closing)
		}
	}
}

func (c *attackConn) run(f func(*attackConn)) {
	if f != nil {
		f(c)
	}
}

// leave leaves the seat and disconnects.
func (c *attackConn) leave() {
	c.send(&protocol.Message{Kind: protocol.KindLeave})
	c.disconnect()
}

// kicked lets an admin kick a welcomed attacker. It returns at once as another guest,
// and a ban of its address must refuse it.
func (c *attackConn) kicked() {
	v, s := c.v, c.v.w.server
	if c.wire.from == v.kickedFrom && v.w.now < v.bannedUntil {
		v.w.fail("I14", "%s was kicked, and is in the match again %d ms too early", v.name(), (v.bannedUntil-v.w.now)/ms)
	}
	if s.ready() && s.host.Admin().Kick(v.w.now, c.wire.id, "by an admin") {
		v.kickedFrom, v.bannedUntil = c.wire.from, v.w.now+kickTime
		v.w.count("visitor that was kicked")
		s.after()
	}
}

// disconnect ends the connection on this side. Sent messages still arrive.
func (c *attackConn) disconnect() {
	c.gone = true
	c.wire.v = nil
	c.wire.clientGone, c.wire.up.eof = true, true
	c.wire.down.keep(0)
	c.v.w.wakeWires = true
}

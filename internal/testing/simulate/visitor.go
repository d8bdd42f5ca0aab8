package simulate

import (
	"math/rand/v2"
	"slices"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A visitor is an attacker without a client. It speaks as much of the protocol as
// its attack needs, over as many connections as it likes.
type visitor struct {
	w      *world
	fault  *Fault
	hand   *hand
	random *rand.Rand
	at     lockstep.Time // when something is due
	next   lockstep.Time // when it acts
	calls  []*call
	made   int // connections so far

	keptOut    lockstep.Time // until when, since it was kicked, …
	kickedFrom string        // … from this address
	writer     protocol.Writer
	out        []byte
}

// A call is one connection of a visitor.
type call struct {
	v       *visitor
	wire    *wire
	token   string
	welcome protocol.Welcome // its Session is zero before
	synced  bool             // a whole state has arrived
	closed  protocol.CloseCode
	gone    bool
	reader  protocol.Reader
	m       protocol.Message
}

// visit begins an attack.
func (w *world) visit(h *hand, f *Fault) {
	v := &visitor{w: w, fault: f, hand: h, random: stream(w.plan.Seed, "fault", f.ID), next: w.now}
	w.visitors = append(w.visitors, v)
}

// visits lets the visitors do what is due.
func (w *world) visits() {
	for _, v := range w.visitors {
		if v.at <= w.now {
			v.step()
		}
	}
}

// goHome ends the attack of a fault.
func (w *world) goHome(f *Fault) {
	w.visitors = slices.DeleteFunc(w.visitors, func(v *visitor) bool {
		if v.fault != f {
			return false
		}
		for _, c := range v.calls {
			c.hangUp()
		}
		return true
	})
}

// due returns when something is due.
func (v *visitor) due() lockstep.Time {
	at := v.next
	for _, c := range v.calls {
		at = min(at, c.wire.down.due())
	}
	return max(at, v.w.now)
}

// step does what is due now.
func (v *visitor) step() {
	for i := 0; i < len(v.calls); i++ { // who is told to go may call again
		v.calls[i].hear()
	}
	v.calls = slices.DeleteFunc(v.calls, func(c *call) bool { return c.gone })
	if v.next <= v.w.now {
		v.next = v.w.now + v.hand.every
		v.hand.act(v)
	}
	v.at = v.due()
}

// address returns where the visitor's next connection comes from: an address of
// its own, that of the machine beside which it lives, or one of many.
func (v *visitor) address() string {
	switch v.fault.N % 3 {
	case 0:
		return v.name()
	case 1:
		return v.w.machines[v.fault.Who].address()
	}
	return v.name() + string(rune('a'+v.made%8))
}

// address returns where the machine's connections come from.
func (m *machine) address() string { return "home" + number(m.index) }

// name names the visitor.
func (v *visitor) name() string { return "street" + number(v.fault.ID) }

// call opens a connection, and says who it is unless auth is nil.
func (v *visitor) call(a *protocol.Auth) *call {
	v.made++
	wire := v.w.server.connect(nil, v.address())
	if wire == nil {
		return nil
	}
	wire.v = v
	wire.up.link, wire.down.link = Link{Delay: ms}, Link{Delay: ms}
	c := &call{v: v, wire: wire}
	v.calls = append(v.calls, c)
	if a != nil {
		c.token, wire.token = a.Token, a.Token
		c.say(&protocol.Message{Kind: protocol.KindAuth, Auth: a})
	}
	return c
}

// callAs opens a connection with a token.
func (v *visitor) callAs(token string) *call {
	a := protocol.NewAuth(v.w.subject.Game)
	a.Token = token
	return v.call(a)
}

func (c *call) say(m *protocol.Message) { c.raw(c.v.writer.Append(c.v.out[:0], m)) }

func (c *call) raw(b []byte) {
	c.wire.up.send(c.v.w.now, b, &c.v.w.spare)
	c.v.w.wakeWires = true
}

// hear takes what has arrived.
func (c *call) hear() {
	w := c.v.w
	for !c.gone && c.wire.down.due() <= w.now {
		if c.wire.down.empty() {
			c.hangUp()
			return
		}
		b := c.wire.down.take()
		c.read(b)
		w.spare = append(w.spare, b)
		if c.wire.full && w.server.ready() && !c.wire.hostGone {
			w.server.pull(c.wire)
		}
	}
}

// read takes the messages before the records.
func (c *call) read(b []byte) {
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
			c.on(c.v.hand.welcomed)
		case protocol.KindStateSync:
			if c.m.Offset+uint32(len(c.m.Bytes)) == c.m.Total {
				c.synced = true
				c.on(c.v.hand.synced)
			}
		case protocol.KindPing:
			c.say(&protocol.Message{Kind: protocol.KindPong, Nonce: c.m.Nonce})
		case protocol.KindClosing:
			c.closed = protocol.CloseCode(c.m.Code)
			c.on(c.v.hand.told)
		}
	}
}

func (c *call) on(f func(*call)) {
	if f != nil {
		f(c)
	}
}

// leave gives the seat up and hangs up.
func (c *call) leave() {
	c.say(&protocol.Message{Kind: protocol.KindLeave})
	c.hangUp()
}

// kicked is done to a visitor that is welcomed: an admin kicks it. It comes back at
// once as another guest, and is kept out by its address.
func (c *call) kicked() {
	v, s := c.v, c.v.w.server
	if c.wire.from == v.kickedFrom && v.w.now < v.keptOut {
		v.w.fail("I14", "%s was kicked, and is in the match again %d ms too early", v.name(), (v.keptOut-v.w.now)/ms)
	}
	if s.ready() && s.host.Kick(v.w.now, c.wire.id, "by an admin") {
		v.kickedFrom, v.keptOut = c.wire.from, v.w.now+kickTime
		v.w.count("visitor that was kicked")
		s.after()
	}
}

// hangUp ends the connection on this side. What was sent still arrives.
func (c *call) hangUp() {
	c.gone = true
	c.wire.v = nil
	c.wire.clientGone, c.wire.up.eof = true, true
	c.wire.down.keep(0)
	c.v.w.wakeWires = true
}

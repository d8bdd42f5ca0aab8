package simulate

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A machine is a client with its player, its clock and its connection.
type machine struct {
	w         *world
	index     int
	plan      *MachinePlan
	token     string
	seat      lockstep.Player // System for a spectator
	client    *player.Client
	starts    int // of the program
	startedAt lockstep.Time
	wire      *wire

	offset  lockstep.Time // of its clock
	busy    lockstep.Time // it does nothing before
	dead    lockstep.Time // the program does not run before
	offline lockstep.Time // it cannot connect before
	cost    lockstep.Time // of a tick
	dialing lockstep.Time // when the connection is made; 0 for none
	at      lockstep.Time // when it has something to do, unless touched
	calm    lockstep.Time // since when no fault has touched it

	random   *rand.Rand
	play     func(*lockstep.Simulation) []any
	submitAt lockstep.Time
	readyAt  lockstep.Time // when it says that it is ready

	full     bool          // the match was full
	barred   bool          // it was banned
	keptOut  lockstep.Time // banned until then, since it was kicked
	kickedIn int           // the server's epoch of the ban
	stage    player.Stage
	receipts map[lockstep.Sequence]receipt
	gave     given
	idle     idle
	liar     *liar
	truth    truth
	links    [2]*rand.Rand
	paths    [2]*rand.Rand // of datagrams

	unaffected bool          // nothing explains that it is late or loses its connection
	called     lockstep.Time // when it last connected
	heard      lockstep.Time // when the last message came
	looked     string        // as whom a viewer sees
	heldAt     lockstep.Time // when it last showed another wait
	greeted    bool          // it was welcomed since then
}

func (m *machine) String() string {
	if m != nil {
		return fmt.Sprint("client ", m.index)
	}
	return "a stranger"
}

func (w *world) newMachine(i int, p *MachinePlan) *machine {
	m := &machine{
		w: w, index: i, plan: p, seat: lockstep.System, token: "watch",
		receipts: map[lockstep.Sequence]receipt{}, gave: newGiven(w.subject.Game),
		random: stream(w.plan.Seed, "commands", i),
		links:  [2]*rand.Rand{stream(w.plan.Seed, "up", i), stream(w.plan.Seed, "down", i)},
		paths:  [2]*rand.Rand{stream(w.plan.Seed, "datagrams up", i), stream(w.plan.Seed, "datagrams down", i)},
	}
	if !p.Spectator {
		m.seat, w.seats = w.seats, w.seats+1
		m.token = fmt.Sprint("seat", m.seat)
		w.secrecy.begin(m)
		m.play = w.subject.Play(m.seat, m.random)
	}
	if p.Liar {
		m.liar = newLiar(m)
	}
	m.dead = w.now + p.JoinAt + 1
	if p.Absent {
		m.dead = never
	}
	m.touch()
	return m
}

func (m *machine) clock() lockstep.Time { return m.w.now + m.offset }

// touch makes the machine compute again when it is due.
func (m *machine) touch() { m.at = 0 }

// due returns when the machine has something to do.
func (m *machine) due() lockstep.Time {
	if m.dead > 0 {
		return m.dead
	}
	at := min(m.events()-m.offset, m.submitAt, m.readyAt)
	if m.dialing > 0 {
		at = min(at, m.dialing)
	}
	if m.wire != nil && !m.wire.deaf {
		at = min(at, m.wire.down.due(), m.wire.path.downDue())
	}
	if m.liar != nil && m.wire != nil {
		at = min(at, m.liar.next)
	}
	return max(at, m.busy, m.w.now)
}

// step does everything that is due now.
func (m *machine) step() {
	w := m.w
	if m.at = m.dead; m.dead > w.now {
		return
	}
	m.at = never
	if m.dead > 0 {
		m.start()
	}
	if m.busy > w.now {
		m.at = m.busy
		return
	}
	m.receiveAll()
	before := m.client.Tick()
	if m.events()-m.offset <= w.now {
		m.client.Advance(m.clock())
		m.events()
	}
	if n := m.client.Tick(); n != before {
		if m.cost > 0 && n > before {
			m.busy = w.now + lockstep.Time(n-before)*m.cost
		}
		m.truth.compare(m)
		m.ran(n)
	}
	if m.submitAt <= w.now {
		m.submit()
		m.next()
	}
	if m.readyAt <= w.now {
		m.says(true)
	}
	m.dial()
	m.sendOutput()
	m.noteStage()
	m.arrived()
	if m.stage == player.StageDone {
		m.done()
	}
	m.at = m.due()
}

// receive reads the messages that have arrived.
func (m *machine) receive() {
	for m.wire != nil && !m.wire.deaf && m.wire.down.due() <= m.w.now {
		wire := m.wire
		if wire.down.empty() {
			m.disconnect(errors.New("the connection has ended"))
			return
		}
		b := wire.down.take()
		m.heard = m.w.now
		m.w.note(traceDown, m.index, b)
		m.w.oracle.received(wire, b)
		m.w.secrecy.hears(m, b)
		err := m.hears(wire, b)
		m.events()
		if wire.tap.synced {
			wire.tap.synced, m.truth.epoch = false, wire.epoch
			wire.path.begin()
		}
		m.w.spare = append(m.w.spare, b)
		if err != nil && m.liar == nil {
			m.w.fail("I4", "%s cannot read what the server sent: %v", m, err)
		}
		if wire.full && wire.server.ready() && !wire.hostGone {
			wire.server.pull(wire)
		}
	}
}

// disconnect ends the connection on this side. Sent messages still arrive.
func (m *machine) disconnect(err error) {
	wire := m.wire
	m.wire, m.w.wakeWires = nil, true
	wire.clientGone, wire.up.eof = true, true
	wire.path.end()
	wire.down.keep(0)
	if err != nil {
		m.harmed("has lost its connection: %v", err)
	}
	m.client.Disconnected(m.clock(), err)
	m.events()
}

// submit submits the player's commands.
func (m *machine) submit() {
	s := m.client.Simulation()
	if m.plan.Views {
		s = m.w.oracle.sim // a viewer has no state, and its commands need one
	}
	if m.play == nil || s == nil || !m.chatty() {
		return
	}
	for _, value := range m.play(s) {
		m.gave.submit(m.client, value)
	}
}

// dial connects.
func (m *machine) dial() {
	w := m.w
	switch {
	case m.client.Stage() != player.StageDialing:
		return
	case m.dialing == 0:
		m.dialing = w.now + m.plan.Up.Delay + m.plan.Down.Delay + lockstep.Millisecond
		return
	case m.dialing > w.now:
		return
	}
	m.dialing = 0
	var wire *wire
	if m.offline <= w.now {
		wire = w.reaches().connect(m, m.address())
	}
	if wire == nil {
		m.harmed("was not let in")
		m.client.Disconnected(m.clock(), errNoRoute)
		m.events()
		return
	}
	wire.up.link, wire.down.link = m.plan.Up, m.plan.Down
	if !w.chaos {
		wire.up.link.Loss, wire.down.link.Loss = 0, 0
	}
	wire.up.rand, wire.down.rand = m.links[0], m.links[1]
	wire.path = m.newPath()
	m.wire, m.called, m.greeted = wire, w.now, false
	m.client.Connected(m.clock())
	m.events()
}

var errNoRoute = errors.New("no route to the server")

// sendOutput sends the client's messages.
func (m *machine) sendOutput() {
	w := m.w
	if m.wire == nil {
		return
	}
	m.sendDatagrams()
	for {
		w.buf = m.client.Send(w.buf[:0])
		if len(w.buf) == 0 {
			break
		}
		if m.liar != nil {
			m.liar.say(w.buf)
			continue
		}
		m.send(w.buf)
	}
	if m.liar != nil {
		m.liar.act()
	}
	if m.wire != nil && m.client.Stage() == player.StageClosing {
		m.disconnect(nil)
	}
}

func (m *machine) send(b []byte) {
	m.wire.up.send(m.w.now, b, &m.w.spare)
	m.w.wakeWires = true
}

// events follows the events of the client, and returns when the client is to be called again.
func (m *machine) events() lockstep.Time {
	r := m.client.Ready()
	for _, e := range r.Events {
		m.event(e)
	}
	return r.Next
}

func (m *machine) event(e any) {
	w := m.w
	switch e := e.(type) {
	case lockstep.Receipt:
		m.answered(e)
	case player.Desynced:
		m.truth.reporting = true
		if !m.w.referee.logged[e.Tick] { // else the log says so
			m.truth.reported(m, e.Tick)
		}
	case player.Renumbered:
		m.gave.content[e.To] = m.gave.content[e.From]
		delete(m.receipts, e.From)
	case player.Looking:
		if m.looked != "" && m.looked != e.Viewer {
			w.count("viewer seen as another team")
		}
		m.looked = e.Viewer
	case player.Held:
		m.heldAt = w.now
	case player.Healed:
		m.truth.reporting = false
	case player.Welcomed:
		m.greeted, m.idle.warned = true, false
	case player.Ended:
		m.toldEnd(&e)
	case player.Synced:
		w.count("synced")
	case player.StreamResumed:
		w.count("stream resumed")
	case player.ServerError:
		m.harmed("was told of an error: %v: %s", e.Code, e.Text)
		m.full = m.full || e.Code == protocol.ErrorFull && m.plan.Spectator
		m.idle.warned = m.idle.warned || e.Code == protocol.ErrorInactive
		if m.liar == nil && (e.Code == protocol.ErrorMalformed || e.Code == protocol.ErrorIdentity || e.Code == protocol.ErrorRole) {
			w.fail("I7", "honest %s was told of an error: %v: %s", m, e.Code, e.Text)
		}
	case player.ServerClosing:
		m.harmed("was closed as %v: %s", e.Code, e.Text)
		switch e.Code {
		case protocol.CloseSlow, protocol.CloseTimeout:
			if m.liar == nil && m.plan.Up.Loss == 0 && m.plan.Down.Loss == 0 && w.now > m.wellSince()+calmDown {
				w.fail("I6", "nothing is wrong with %s, and it was closed as %v: %s", m, e.Code, e.Text)
			}
		case protocol.CloseAbuse, protocol.CloseMalformed:
			if m.liar == nil {
				w.fail("I7", "honest %s was closed as %v: %s", m, e.Code, e.Text)
			}
		case protocol.CloseInactive:
			m.idled()
		case protocol.CloseBanned:
			if m.barred = true; m.keptOut == 0 && m.liar == nil {
				w.fail("I7", "%s was kept out without a kick: %s", m, e.Text)
			}
		case protocol.CloseKicked:
			if m.liar == nil && !m.truth.flipped && !w.kicked[m.index] {
				w.fail("I7", "honest %s was removed: %s", m, e.Text)
			}
		}
	}
}

package simulate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A world is one run: a server with its disk, and clients, over a virtual network
// and in virtual time, in one goroutine. The plan alone determines it.
type world struct {
	plan    *Plan
	subject *Subject
	header  *lockstep.Header
	start   lockstep.Time
	now     lockstep.Time
	chaos   bool // faults start, players submit commands
	over    bool // the match cannot go on, which is correct

	server  *server  // the one that has the match
	cluster *cluster // nil: there is only one server
	barrier barrier
	budgets budgets
	lobby   lobby
	waiting waiting

	substitutes substitutes
	attackers   []*attacker
	quiet       bool            // no fault of the plan touches the server
	early       int             // unaffected machines that join at the start
	others      int             // other players, and attackers
	sealed      []lockstep.Time // time of each tick
	relay       relay
	secrecy     *secrecy // nil: nobody compares runs
	machines    []*machine
	oracle      *oracle
	referee     referee
	wires       []*wire       // all open ones
	wiresAt     lockstep.Time // when the next message arrives at the server
	seats       lockstep.Player

	concludeAt lockstep.Time // when the run of a match that its rules ended is over; never if they did not
	tokens     *rand.Rand    // session tokens

	wakeWires bool
	faultAt   int       // index of the next one in the plan
	restores  []restore // faults to undo
	checkAt   lockstep.Time
	calm      lockstep.Time // since when no fault has touched the server …
	orders    lockstep.Time // … and no admin has stopped or changed the match
	spins     int           // steps without time passing
	kicked    map[int]bool
	unpause   bool          // a pause is to end
	pausedTo  lockstep.Time // when the last one ends
	leak      int           // set by a test: bytes to add to each client's memory

	spare [][]byte
	buf   []byte

	hash      *xxhash.Digest
	scratch   [24]byte
	recent    [64]moment // a ring
	moments   int
	violation *Violation

	Tallies
	ticked lockstep.Tick // last one of the log a second ago
	moved  lockstep.Time // when that rose
}

// A Violation is a broken invariant.
type Violation struct {
	Invariant string        `json:"invariant"` // such as I1
	At        lockstep.Time `json:"at"`        // since the start of the run
	Tick      lockstep.Tick `json:"tick"`      // last one of the log
	Text      string        `json:"text"`
}

func (v *Violation) String() string {
	return fmt.Sprintf("%s violated after %.3f s, tick %d: %s", v.Invariant, float64(v.At)/float64(lockstep.Second), v.Tick, v.Text)
}

// fail records a violation. Only the first counts.
func (w *world) fail(invariant, format string, args ...any) {
	if w.violation == nil {
		w.violation = &Violation{Invariant: invariant, At: w.now - w.start, Tick: w.oracle.tick(), Text: fmt.Sprintf(format, args...)}
	}
}

func (w *world) count(what string) {
	w.Counts[what]++
	w.remember(traceEvent, 0, 0, what)
}

// newWorld prepares a run.
func newWorld(s *Subject, p *Plan) (*world, error) { return newWorldOf(s, p, nil) }

func newWorldOf(s *Subject, p *Plan, x *secrecy) (*world, error) {
	w := &world{
		plan: p, subject: s, secrecy: x, start: 1000 * lockstep.Second, now: 1000 * lockstep.Second, chaos: true,
		tokens: stream(p.Seed, "tokens", 0), hash: xxhash.New(), concludeAt: never,
		barrier: barrier{delay: p.Host.SpectatorDelay}, relay: newRelay(p),
		Tallies: Tallies{Counts: map[string]int{}, Injected: map[string]int{}}, kicked: map[int]bool{},
		lobby:       lobby{met: 1000 * lockstep.Second, again: 1000 * lockstep.Second},
		substitutes: substitutes{played: map[int]bool{}},
	}
	var err error
	id := lockstep.MatchID{}
	binary.LittleEndian.PutUint64(id[:], p.Seed)
	if w.header, err = s.header(id, p.Settings); err != nil {
		return nil, err
	}
	if w.oracle, err = newOracle(w); err != nil {
		return nil, err
	}
	w.server = &server{w: w, disk: disk{plan: &p.Disk}, chance: stream(p.Seed, "server", 0)}
	w.cluster = newCluster(w)
	for i := range p.Machines {
		w.machines = append(w.machines, w.newMachine(i, &p.Machines[i]))
	}
	w.checkAt, w.moved = w.now+lockstep.Second, w.now
	w.watchUnaffected()
	if w.barrier.delay > 0 {
		w.count("match with a spectator delay")
	}
	if w.relay.on {
		w.count("match without a referee")
	}
	return w, w.server.begin()
}

var errRefused = errors.New("refused")

// authorize knows the tokens: "watch", one per seat, and those of attackers.
func (w *world) authorize(token string) (host.Grant, error) {
	for _, m := range w.machines {
		if m.token == token {
			if m.plan.Spectator {
				return host.Grant{Role: protocol.Spectator}, nil
			}
			return host.Grant{Role: protocol.Seated, Seat: m.seat, Name: token}, nil
		}
	}
	if g, ok := grantOf(token); ok {
		return g, nil
	}
	return host.Grant{}, errRefused
}

// observe follows the events of the host.
func (w *world) observe(e host.Event) {
	w.budgets.observe(&e)
	w.substituted(&e)
	switch e.Kind {
	case host.PeerDesynced:
		if m := w.about(&e); m != nil {
			if m.liar != nil {
				w.count("liar found")
			}
			if w.unnoticed() && m.liar == nil && !m.truth.flipped {
				w.lostToReferee(nil)
				return
			}
			m.truth.reported(m, e.Tick)
		}
	case host.PeerClosed:
		if m := w.about(&e); m != nil && m.liar == nil && (e.Code == protocol.CloseAbuse || e.Code == protocol.CloseMalformed) {
			w.fail("I7", "honest %s was closed as %v: %s", m, e.Code, e.Text)
		} else if m != nil && e.Code == protocol.CloseKicked {
			m.keptOut, m.kickedIn = w.now+kickTime, w.server.epoch
		}
	case host.PeerJoined, host.PeerResumed:
		if m := w.about(&e); m != nil && w.now < m.keptOut && m.kickedIn == w.server.epoch {
			w.fail("I7", "%s was kicked, and is in the match again %d ms too early", m, (m.keptOut-w.now)/lockstep.Millisecond)
		}
	case host.PeerLeft:
		if e.Player != lockstep.System {
			w.oracle.roster.departs(e.Player, w.oracle.tick())
		}
	case host.TicksSkipped:
		w.trouble(w.now)
	}
}

// about returns the machine of an event; nil for a stranger's.
func (w *world) about(e *host.Event) *machine {
	if wire := w.server.byID[e.Peer]; wire != nil {
		return wire.m
	}
	for _, m := range w.machines {
		if e.Peer == 0 && m.seat == e.Player && !m.plan.Spectator {
			return m
		}
	}
	return nil
}

// step counts a change of a connection's state.
func (w *world) step(to host.PeerState, wire *wire) {
	if wire.state != to {
		w.PeerEdges[wire.state][to]++
		wire.state = to
	}
}

// until runs the world up to a time.
func (w *world) until(end lockstep.Time) {
	for w.violation == nil && !w.over {
		at := w.next()
		if at >= end {
			w.now = end
			return
		}
		if at > w.now {
			w.now, w.spins = at, 0
		} else if w.spins++; w.spins > 100_000 {
			w.fail("I10", "the run makes no progress: %d steps without time passing: %v", w.spins, w.busiest())
			return
		}
		w.runDue()
	}
}

// busiest lists the parts that are due now.
func (w *world) busiest() (all []string) {
	if w.server.due() <= w.now {
		all = append(all, "server")
	}
	if w.wiresAt <= w.now {
		all = append(all, "wires")
	}
	for _, m := range w.machines {
		if m.at <= w.now {
			all = append(all, fmt.Sprintf("%v %v wire %t clock %d next %d", m, m.client.Stage(), m.wire != nil, m.clock(), m.events()))
		}
	}
	return all
}

// next returns the time of the next thing to do.
func (w *world) next() lockstep.Time {
	at := min(w.server.due(), w.cluster.due(), w.checkAt, w.concludeAt)
	if w.wakeWires {
		w.wakeWires = false
		w.wiresAt = w.wiresDue()
	}
	if w.wiresAt < never && w.server.up() && !w.server.suspended {
		at = min(at, max(w.wiresAt, w.server.stalled))
	}
	if w.chaos && w.faultAt < len(w.plan.Faults) {
		at = min(at, w.start+w.plan.Faults[w.faultAt].At)
	}
	for i := range w.restores {
		at = min(at, w.restores[i].at)
	}
	for _, m := range w.machines {
		at = min(at, m.at)
	}
	for _, v := range w.attackers {
		at = min(at, v.at)
	}
	return at
}

// runDue does everything that is due now, in a fixed order.
func (w *world) runDue() {
	if w.concludeAt <= w.now {
		w.conclude()
		return
	}
	w.faults()
	if w.server.due() <= w.now {
		w.server.step()
	}
	if w.cluster.due() <= w.now {
		w.cluster.step()
	}
	if w.wiresAt <= w.now && w.server.ready() {
		w.deliver(w.server)
		w.wakeWires = true
	}
	for _, m := range w.machines {
		if m.at <= w.now {
			m.step()
		}
	}
	w.stepAttackers()
	if w.checkAt <= w.now {
		w.resumeMatch()
		w.waiting.follow(w)
		w.check()
		w.checkAt = w.now + lockstep.Second
	}
}

// wiresDue returns when the next message or disconnect arrives at the server. It
// forgets closed connections.
func (w *world) wiresDue() lockstep.Time {
	at := never
	n := 0
	for _, wire := range w.wires {
		if wire.hostGone && wire.m == nil {
			wire.clientGone = true // a stranger does not mind
		}
		if wire.over() {
			continue
		}
		w.wires[n] = wire
		n++
		if !wire.hostGone && wire.server == w.server {
			at = min(at, wire.up.due(), wire.path.upDue())
		}
	}
	clear(w.wires[n:])
	w.wires = w.wires[:n]
	return at
}

// deliver lets a server read the messages that have arrived.
func (w *world) deliver(s *server) {
	for i := 0; i < len(w.wires); i++ {
		wire := w.wires[i]
		for wire.server == s && !wire.hostGone && s.ready() && wire.up.due() <= w.now {
			if wire.up.empty() {
				s.lost(wire)
				break
			}
			b := wire.up.take()
			if wire.m != nil {
				w.note(traceUp, wire.m.index, b)
			}
			s.receive(wire, b)
			w.spare = append(w.spare, b)
		}
		if wire.server == s {
			s.receiveDatagrams(wire)
		}
	}
}

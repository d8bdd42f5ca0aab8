package player_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A cluster is a Host and its Clients on one virtual network, in one goroutine. Everything follows from the seed. It
// checks while it runs that every state of a client is that of the log, and that every command is in the log once, at
// the tick of its receipt.
type cluster struct {
	tb       testing.TB
	random   *rand.Rand
	host     *host.Host
	game     *lockstep.Game
	now      lockstep.Time
	hostLate lockstep.Time // the host's clock stands still until then
	hostNext lockstep.Time // when the host has something to do
	ids      []host.PeerID // that the host may have something for
	machines []*machine
	byID     map[host.PeerID]*machine
	scratch  []byte

	follower *lockstep.Follower                   // of the log
	dec      record.Decoder                       // of the log
	hashes   []uint64                             // by tick, of the log
	logged   map[[2]uint32][]lockstep.Tick        // (player, sequence): where it is
	trace    hash.Hash64                          // of all that is delivered
	events   map[string]int                       // of clients, by name
	told     map[host.EventKind]int               // of the host
	closes   map[protocol.CloseCode]int           // by the host
	compared int                                  // states
	links    func(m *machine) (up, down linkSpec) // of new connections
}

// A linkSpec is the quality of one direction of a connection.
type linkSpec struct {
	delay, jitter lockstep.Time
	lossPercent   int // a lost packet comes a retransmission later, and so does what follows it
}

// A machine is a client with its socket, its clock and its player.
type machine struct {
	c       *cluster
	name    string
	client  *player.Client
	seat    lockstep.Player
	offset  lockstep.Time // of its clock
	busy    lockstep.Time // it does nothing until then
	cost    lockstep.Time // of a tick
	wire    *wire
	dialing lockstep.Time // when the connection is made; 0 for none
	net     bool          // it can connect

	give      bool // it gives commands
	next      lockstep.Time
	accepted  map[lockstep.Sequence]lockstep.Tick
	rejected  int
	submitted int
	replay    [][]byte // commands of an earlier connection, sent again
	healed    int
	desynced  []lockstep.Tick
	joined    []lockstep.Time // when it was live, each time
	worst     int             // backlog, ticks
}

// A wire is one connection.
type wire struct {
	id       host.PeerID
	up, down pipe
	closing  bool // by the host: after what is on its way
	leaving  bool // by the client
	count    int  // messages delivered
}

type pipe struct {
	linkSpec
	queue []arrival
	last  lockstep.Time
	size  int
	stuck bool // nothing arrives, and nothing is lost, until it is freed
	hole  bool // what is sent is lost
}

func (p *pipe) send(c *cluster, b []byte) {
	if p.hole {
		return
	}
	at := c.now + p.delay
	if p.jitter > 0 {
		at += lockstep.Time(c.random.Int64N(int64(p.jitter)))
	}
	for wait := max(200*lockstep.Millisecond, 2*p.delay); p.lossPercent > 0 && c.random.IntN(100) < p.lossPercent; wait *= 2 {
		at += wait
	}
	p.last = max(p.last, at)
	p.queue = append(p.queue, arrival{p.last, bytes.Clone(b)})
	p.size += len(b)
}

// due returns the time of arrival of the next message.
func (p *pipe) due(c *cluster) lockstep.Time {
	if len(p.queue) == 0 || p.stuck {
		return never
	}
	return max(p.queue[0].at, c.now)
}

func (p *pipe) take() []byte {
	b := p.queue[0].bytes
	p.queue = p.queue[1:]
	p.size -= len(b)
	return b
}

const never = lockstep.Time(1) << 60

func newCluster(tb testing.TB, seed uint64, settings func(*lockstep.Settings), options func(*host.Options)) *cluster {
	return newClusterOf(tb, lockstep.MustGame(testgame.BankRules()), seed, settings, options)
}

func newClusterOf(tb testing.TB, g *lockstep.Game, seed uint64, settings func(*lockstep.Settings), options func(*host.Options)) *cluster {
	c := &cluster{
		tb: tb, random: rand.New(rand.NewPCG(seed, 77)), now: 1000 * lockstep.Second, game: g,
		byID: map[host.PeerID]*machine{}, logged: map[[2]uint32][]lockstep.Tick{}, trace: fnv.New64a(),
		events: map[string]int{}, told: map[host.EventKind]int{}, closes: map[protocol.CloseCode]int{},
		links: func(*machine) (up, down linkSpec) {
			s := linkSpec{delay: 20 * lockstep.Millisecond, jitter: 5 * lockstep.Millisecond}
			return s, s
		},
	}
	s := lockstep.DefaultSettings(8)
	s.CheckEvery, s.KeyframeEvery = 10, 100
	if settings != nil {
		settings(&s)
	}
	header, err := c.game.NewHeader(lockstep.MatchID{5}, s, &testgame.BankConfig{Start: 1000})
	if err != nil {
		tb.Fatal(err)
	}
	c.follower = c.game.NewFollower(lockstep.FollowerOptions{})
	o := host.Options{
		Authorize: func(token string) (host.Grant, error) {
			if token == "watch" {
				return host.Grant{Role: protocol.Spectator}, nil
			}
			return host.Grant{Role: protocol.Seated, Seat: lockstep.Player(token[0] - '0'), Name: token}, nil
		},
		Random: func(b []byte) {
			for i := range b {
				b[i] = byte(c.random.Uint32())
			}
		},
		InputDelay: 2,
	}
	if options != nil {
		options(&o)
	}
	if c.host, err = host.New(c.game, header, o); err != nil {
		tb.Fatal(err)
	}
	return c
}

// Append is the match's log.
func (c *cluster) Append(record []byte) error {
	if err := c.follower.Append(record); err != nil {
		c.tb.Fatalf("the log: %v", err)
	}
	r, _, err := c.dec.Decode(record)
	if err != nil {
		c.tb.Fatalf("the log: %v", err)
	}
	for _, cmd := range r.Frame.Commands {
		key := [2]uint32{uint32(cmd.Player), uint32(cmd.Sequence)}
		c.logged[key] = append(c.logged[key], cmd.Tick)
	}
	if t := int(c.follower.Tick()); c.follower.Simulation() != nil && t == len(c.hashes) {
		c.hashes = append(c.hashes, c.follower.Simulation().Hash())
	}
	return nil
}

// join adds a machine. Its token is "0" to "7" for a seat, or "watch".
func (c *cluster) join(token string, o player.Options) *machine {
	m := &machine{c: c, name: token, seat: lockstep.System, net: true, give: token != "watch", accepted: map[lockstep.Sequence]lockstep.Tick{}}
	if token != "watch" {
		m.seat = lockstep.Player(token[0] - '0')
	}
	o.Token, o.Seed = token, uint64(len(c.machines))
	m.client = player.New(c.game, o)
	c.machines = append(c.machines, m)
	return m
}

func (m *machine) clock() lockstep.Time { return m.c.now + m.offset }

// events records the client's events, and returns when the client has to be called again.
func (m *machine) events() lockstep.Time {
	r := m.client.Ready()
	for _, e := range r.Events {
		m.event(e)
	}
	return r.Next
}

func (m *machine) event(e any) {
	switch e := e.(type) {
	case lockstep.Receipt:
		if e.Reason != lockstep.Accepted {
			m.rejected++
			return
		}
		if _, twice := m.accepted[e.Sequence]; twice {
			m.c.tb.Errorf("%s: command %d is answered twice", m.name, e.Sequence)
		}
		m.accepted[e.Sequence] = e.Tick
	case player.Desynced:
		m.desynced = append(m.desynced, e.Tick)
		m.c.events["desynced"]++
	case player.Healed:
		m.healed++
	case player.Synced:
		m.joined = append(m.joined, m.c.now)
		m.c.events["synced"]++
	case player.ConnectionLost:
		m.c.events["lost"]++
	case player.StreamResumed:
		m.c.events["resumed"]++
	case player.ServerError:
		m.c.events["error "+e.Code.String()]++
	case player.LostForGood:
		m.c.events["lost for good"]++
	}
}

// run lets time pass.
func (c *cluster) run(d lockstep.Time) {
	for end := c.now + d; ; {
		c.pump()
		at := end
		if c.hostLate <= c.now {
			at = min(at, c.hostNext)
		} else {
			at = min(at, c.hostLate)
		}
		for _, m := range c.machines {
			at = min(at, m.due())
		}
		if at >= end {
			c.now = end
			return
		}
		c.now = max(c.now, at)
		c.step()
	}
}

// due returns the time of a machine's next action.
func (m *machine) due() lockstep.Time {
	at := never
	if m.dialing > 0 {
		at = min(at, m.dialing)
	}
	if m.wire != nil {
		at = min(at, max(m.wire.up.due(m.c), m.c.hostLate), m.wire.down.due(m.c))
	}
	if m.client.Stage() != player.StageDone {
		at = min(at, m.events()-m.offset)
	}
	if m.give {
		at = min(at, m.next)
	}
	return max(at, m.busy)
}

// step performs all actions that are due.
func (c *cluster) step() {
	if c.hostLate <= c.now && c.hostNext <= c.now {
		c.host.Advance(c.now)
		c.take()
	}
	for _, m := range c.machines {
		if m.busy > c.now {
			continue
		}
		if w := m.wire; w != nil && w.up.due(c) <= c.now && c.hostLate <= c.now {
			b := w.up.take()
			c.note(m, 1, b)
			w.count++
			c.host.Receive(c.now, w.id, b)
		}
		if w := m.wire; w != nil && w.down.due(c) <= c.now {
			b := w.down.take()
			c.note(m, 2, b)
			w.count++
			err := m.client.Receive(m.clock(), b)
			m.events()
			if err != nil {
				c.tb.Errorf("%s: %v", m.name, err)
			}
		}
		m.live()
	}
}

// note adds a delivered message to the hash of all messages in order.
func (c *cluster) note(m *machine, way byte, b []byte) {
	c.trace.Write(binary.LittleEndian.AppendUint64([]byte{way, m.name[0]}, uint64(c.now)))
	c.trace.Write(b)
}

// live performs a player's own actions on a client.
func (m *machine) live() {
	c := m.c
	before := m.client.Tick()
	m.client.Advance(m.clock())
	m.events()
	if m.cost > 0 && m.client.Tick() > before {
		m.busy = c.now + lockstep.Time(m.client.Tick()-before)*m.cost
	}
	m.worst = max(m.worst, int(m.client.Status().Backlog))
	m.check()
	if m.give && m.next <= c.now {
		m.next = c.now + 20*lockstep.Millisecond + lockstep.Time(c.random.Int64N(int64(400*lockstep.Millisecond)))
		if _, err := m.client.Submit(&testgame.Earn{Coins: uint16(c.random.UintN(1000))}); err == nil {
			m.submitted++
		}
	}
	switch {
	case m.client.Stage() == player.StageDialing && m.dialing == 0:
		m.dialing = c.now + 30*lockstep.Millisecond
	case m.dialing > 0 && m.dialing <= c.now:
		m.dialing = 0
		m.dial()
	}
}

// check compares the client's state with the log's.
func (m *machine) check() {
	s := m.client.Simulation()
	if s == nil || len(m.desynced) > m.healed || m.corrupt() {
		return
	}
	m.c.compared++
	if t := int(s.Tick()); t >= len(m.c.hashes) || s.Hash() != m.c.hashes[t] {
		m.c.tb.Fatalf("%s at tick %d has another state than the log", m.name, t)
	}
}

func (m *machine) corrupt() bool { return m.healed < 0 }

var errNoNet = errors.New("no network")

func (m *machine) dial() {
	c := m.c
	if m.client.Stage() != player.StageDialing {
		return
	}
	id, ok := host.PeerID(0), false
	if m.net && c.hostLate <= c.now {
		id, ok = c.host.Connect(c.now, "")
	}
	if !ok {
		m.client.Disconnected(m.clock(), errNoNet)
		m.events()
		return
	}
	m.wire = &wire{id: id}
	m.wire.up.linkSpec, m.wire.down.linkSpec = c.links(m)
	c.byID[id] = m
	m.client.Connected(m.clock())
	m.events()
}

// cut ends a machine's connection. Messages in transit are lost. Either side may fail to notice.
func (m *machine) cut(tellClient, tellHost bool) {
	w := m.wire
	if w == nil {
		return
	}
	if tellClient {
		m.wire = nil
		m.client.Disconnected(m.clock(), errors.New("cut"))
		m.events()
	} else {
		w.up.hole, w.down.hole, w.up.queue, w.down.queue = true, true, nil, nil
	}
	if tellHost {
		m.c.host.Disconnect(m.c.now, w.id)
		delete(m.c.byID, w.id)
	}
}

// take performs the host's requests except sending.
func (c *cluster) take() {
	for {
		r := c.host.Ready()
		c.hostNext, c.ids = r.Next, append(c.ids, r.Peers...)
		if r.Empty() {
			return
		}
		if err := r.AppendTo(c); err != nil {
			c.tb.Fatal(err)
		}
		c.host.Persisted(c.now, r.Position)
		for _, e := range r.Events {
			c.told[e.Kind]++
			if e.Kind == host.PeerClosed {
				c.closes[e.Code]++
			}
		}
	}
}

// pump moves outgoing messages of hosts and clients into the network.
func (c *cluster) pump() {
	if c.hostLate <= c.now {
		for c.take(); len(c.ids) > 0; c.take() {
			id := c.ids[0]
			c.ids = c.ids[1:]
			if m := c.byID[id]; m != nil && m.wire != nil && m.wire.id == id {
				c.pull(m)
			}
		}
	}
	for _, m := range c.machines {
		w := m.wire
		if w == nil || m.busy > c.now {
			continue
		}
		if c.hostLate <= c.now && w.down.size < 64<<10 {
			c.pull(m) // the socket has room again
		}
		m.push(w)
		if w.closing && len(w.down.queue) == 0 || w.leaving && len(w.up.queue) == 0 {
			m.cut(true, true)
		}
	}
}

// pull sends the host's messages for a machine.
func (c *cluster) pull(m *machine) (sent bool) {
	w := m.wire
	for w.down.size < 64<<10 {
		c.scratch = c.host.Send(w.id, c.scratch[:0], protocol.MaxServerMessage)
		if len(c.scratch) == 0 {
			if _, _, closed := c.host.Closed(w.id); closed {
				w.closing = true
			}
			return sent
		}
		sent = true
		w.down.send(c, c.scratch)
	}
	return sent
}

// push sends a client's messages.
func (m *machine) push(w *wire) {
	for {
		b := m.client.Send(nil)
		if len(b) == 0 {
			break
		}
		w.up.send(m.c, b)
		m.keep(b)
	}
	if m.client.Stage() == player.StageClosing {
		w.leaving = true
	}
	if m.client.Stage() == player.StageLive && len(m.replay) > 0 && w.count > 3 {
		for _, b := range m.replay {
			w.up.send(m.c, b)
		}
		m.c.events["replayed"] += len(m.replay)
		m.replay = nil
	}
}

// keep records the commands of a message for a later replay.
func (m *machine) keep(b []byte) {
	var r protocol.Reader
	var w protocol.Writer
	for len(b) > 0 {
		var msg protocol.Message
		var err error
		if b, err = r.Read(&msg, b); err != nil {
			m.c.tb.Fatalf("%s sent: %v", m.name, err)
		}
		if msg.Kind == protocol.KindCommand {
			m.c.events["command"]++
			if len(m.replay) < 10 && m.c.events["keep"] > 0 {
				m.replay = append(m.replay, w.Append(nil, &msg))
			}
		}
	}
}

// finish stops the faults, and checks the final conditions.
func (c *cluster) finish() {
	c.tb.Helper()
	for _, m := range c.machines {
		m.net, m.cost, m.give = true, 0, false
		if m.wire != nil {
			m.wire.up.stuck, m.wire.down.stuck = false, false
		}
	}
	c.run(20 * lockstep.Second)
	for _, m := range c.machines {
		s := m.client.Status()
		if s.Stage == player.StageDone {
			c.tb.Errorf("%s has given up: %v", m.name, m.client.Err())
			continue
		}
		if s.Stage != player.StageLive || s.Tick+25 < c.host.Now() {
			c.tb.Errorf("%s is %v at tick %d of %d, want live", m.name, s.Stage, s.Tick, c.host.Now())
		}
		if s.Unanswered > 0 {
			c.tb.Errorf("%s: %d commands have no answer", m.name, s.Unanswered)
		}
		if n := len(m.accepted) + m.rejected; n != m.submitted {
			c.tb.Errorf("%s: got %d answers to %d commands", m.name, n, m.submitted)
		}
		for seq, tick := range m.accepted {
			if at := c.logged[[2]uint32{uint32(m.seat), uint32(seq)}]; !slices.Equal(at, []lockstep.Tick{tick}) {
				c.tb.Errorf("%s: command %d was accepted for tick %d and is in %v", m.name, seq, tick, at)
			}
		}
	}
	if err := c.host.Info().CheckBounds(1 << 12); err != nil {
		c.tb.Error(err)
	}
	if c.compared == 0 {
		c.tb.Error("no state was compared")
	}
}

package datagram_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A match is a host and players over links, in virtual time.
type match struct {
	t         *testing.T
	game      *lockstep.Game
	host      *host.Host
	now       lockstep.Time
	log       [][]byte        // by position
	ticks     []lockstep.Tick // after the record of a position
	sealed    []lockstep.Time // by tick
	players   []*seat
	hashes    map[lockstep.Tick]uint64
	rand      *rand.Rand
	in        protocol.Reader
	datagrams datagram.Reader
	buf       []byte
}

// A seat is a player with its links.
type seat struct {
	m             *match
	client        *player.Client
	id            host.PeerID
	up, down      *link
	datagramsUp   *link // nil without datagrams
	datagramsDown *link
	errors        []error
	receipts      map[lockstep.Sequence]lockstep.Receipt
	ran           []lockstep.Time // by tick; 0 for those before it joined
	submitted     lockstep.Sequence
	next          protocol.Position          // of the stream
	have          map[protocol.Position]bool // records that have arrived, by any way
	repeats       uint64                     // records of datagrams that were here
	waited        int                        // ticks that had arrived, and were not run
	records       int                        // that datagrams have brought, each time
	lastUp        datagram.ToHost            // the last datagram to the host
	connected     bool
	reconnects    int
}

func newMatch(t *testing.T, seats uint8, o host.Options) *match {
	m := &match{t: t, hashes: map[lockstep.Tick]uint64{}, rand: rand.New(rand.NewPCG(7, 7)), sealed: make([]lockstep.Time, 1)}
	var header *lockstep.Header
	m.game, header = testgame.NewBankMatch(t, seats)
	o.Authorize = func(string) (host.Grant, error) {
		return host.Grant{Role: protocol.Seated, Seat: host.AnySeat}, nil
	}
	o.Random = func(b []byte) {
		for i := range b {
			b[i] = byte(m.rand.Uint32())
		}
	}
	var err error
	if m.host, err = host.New(m.game, header, o); err != nil {
		t.Fatal(err)
	}
	return m
}

// join adds a player; datagrams gives it datagrams.
func (m *match) join(loss float64, datagrams bool) *seat {
	n := uint64(len(m.players))
	newLink := func(kind uint64, stream bool) *link {
		return &link{rand: rand.New(rand.NewPCG(n, kind)), delay: 40 * ms, loss: loss, stream: stream}
	}
	s := &seat{
		m: m, up: newLink(1, true), down: newLink(2, true), receipts: map[lockstep.Sequence]lockstep.Receipt{}, have: map[protocol.Position]bool{},
		client: player.New(m.game, player.Options{Token: fmt.Sprint("player", n), Pacing: player.PacingOptions{AsTheyCome: true, Budget: 1000}}),
	}
	if datagrams {
		s.datagramsUp, s.datagramsDown = newLink(3, false), newLink(4, false)
	}
	m.players = append(m.players, s)
	return s
}

func (m *match) run(d lockstep.Time) {
	for end := m.now + d; m.now < end; {
		m.now += ms
		m.serve(func() { m.host.Advance(m.now) })
		for _, s := range m.players {
			s.step()
		}
	}
}

// serve does something with the host, and what the host then wants.
func (m *match) serve(do func()) {
	do()
	for r := m.host.Ready(); !r.Empty(); r = m.host.Ready() {
		for _, b := range r.Records {
			if record.KindOf(b) == record.KindKeyframe {
				continue
			}
			t := lockstep.Tick(0)
			if n := len(m.ticks); n > 0 {
				t = m.ticks[n-1]
			}
			if record.KindOf(b).Advances() {
				t++
				m.sealed = append(m.sealed, m.now)
			}
			m.log, m.ticks = append(m.log, bytes.Clone(b)), append(m.ticks, t)
		}
		m.hashes[m.host.Referee().Tick()] = m.host.Referee().Simulation().Hash()
		m.host.Persisted(m.now, r.Position)
		for _, id := range r.Peers {
			for _, s := range m.players {
				if s.id == id {
					s.serve()
				}
			}
		}
	}
}

func (s *seat) serve() {
	m := s.m
	for s.datagramsDown != nil {
		if m.buf = m.host.SendDatagram(s.id, m.buf[:0]); len(m.buf) == 0 {
			break
		}
		if len(m.buf) > datagram.MaxSize {
			m.t.Fatalf("got a datagram of %d bytes", len(m.buf))
		}
		s.datagramsDown.send(m.now, m.buf)
	}
	for {
		if m.buf = m.host.Send(s.id, m.buf[:0], protocol.MaxServerMessage); len(m.buf) == 0 {
			break
		}
		s.down.send(m.now, m.buf)
	}
}

func (s *seat) step() {
	m, c := s.m, s.client
	for b := s.up.take(m.now); b != nil; b = s.up.take(m.now) {
		m.serve(func() { m.host.Receive(m.now, s.id, b) })
	}
	for b := s.down.take(m.now); b != nil; b = s.down.take(m.now) {
		s.note(b)
		if err := c.Receive(m.now, b); err != nil {
			s.errors = append(s.errors, err)
		}
	}
	if s.datagramsUp != nil {
		for b := s.datagramsUp.take(m.now); b != nil; b = s.datagramsUp.take(m.now) {
			m.serve(func() { m.host.ReceiveDatagram(m.now, s.id, b) })
		}
		for b := s.datagramsDown.take(m.now); b != nil; b = s.datagramsDown.take(m.now) {
			s.noteDatagram(b)
			if err := c.ReceiveDatagram(m.now, b); err != nil {
				s.errors = append(s.errors, err)
			}
		}
	}
	before := c.Tick()
	c.Advance(m.now)
	for t := before + 1; t <= c.Tick(); t++ {
		for lockstep.Tick(len(s.ran)) <= t {
			s.ran = append(s.ran, 0)
		}
		s.ran[t] = m.now
	}
	if want, ok := m.hashes[c.Tick()]; c.Tick() > 0 && (!ok || c.Simulation().Hash() != want) {
		m.t.Fatalf("%s: tick %d: another state than the host's", s, c.Tick())
	}
	if c.Stage() == player.StageLive && c.Tick() < s.arrived() {
		s.waited++
	}
	switch c.Stage() {
	case player.StageDialing:
		id, ok := m.host.Connect(m.now, "here")
		if !ok {
			m.t.Fatal("no room")
		}
		if s.id = id; s.connected {
			s.reconnects++
		}
		s.connected = true
		c.Connected(m.now)
	case player.StageClosing:
		m.serve(func() { m.host.Disconnect(m.now, s.id) })
		s.drop()
	}
	for s.datagramsUp != nil {
		if m.buf = c.SendDatagram(m.buf[:0]); len(m.buf) == 0 {
			break
		}
		if err := m.datagrams.ToHost(&s.lastUp, m.buf); err != nil {
			m.t.Fatal(err)
		}
		s.datagramsUp.send(m.now, m.buf)
	}
	for {
		if m.buf = c.Send(m.buf[:0]); len(m.buf) == 0 {
			break
		}
		s.up.send(m.now, m.buf)
	}
	for r := c.Ready(); len(r.Events) > 0; r = c.Ready() {
		for _, e := range r.Events {
			if r, ok := e.(lockstep.Receipt); ok {
				if _, twice := s.receipts[r.Sequence]; twice {
					m.t.Fatalf("command %d has two answers", r.Sequence)
				}
				s.receipts[r.Sequence] = r
			}
		}
	}
}

func (s *seat) String() string { return fmt.Sprintf("player %d", s.id) }

// drop ends the connection on the player's side, and what is on its way is lost.
func (s *seat) drop() {
	for _, l := range []*link{s.up, s.down, s.datagramsUp, s.datagramsDown} {
		if l != nil {
			l.queue, l.last = nil, 0
		}
	}
	s.client.Disconnected(s.m.now, nil)
}

// note follows the stream.
func (s *seat) note(b []byte) {
	var m protocol.Message
	for len(b) > 0 {
		if protocol.IsRecord(b) {
			want := s.m.log[s.next]
			if !bytes.HasPrefix(b, want) {
				s.m.t.Fatalf("%s: record %d of the stream is not that of the log", s, s.next)
			}
			s.have[s.next] = true
			s.next++
			b = b[len(want):]
			continue
		}
		rest, err := s.m.in.Read(&m, b)
		if err != nil {
			s.m.t.Fatal(err)
		}
		if b = rest; m.Kind == protocol.KindWelcome && m.Welcome.Resumed {
			s.begin(m.Welcome.Position)
		}
		if m.Kind == protocol.KindStateSync {
			s.begin(m.Position)
		}
	}
}

// begin begins the stream at a position.
func (s *seat) begin(at protocol.Position) {
	s.next = at
	maps.DeleteFunc(s.have, func(p protocol.Position, _ bool) bool { return p >= at })
}

// noteDatagram follows the datagrams.
func (s *seat) noteDatagram(b []byte) {
	var d datagram.ToPlayer
	if err := s.m.datagrams.ToPlayer(&d, b); err != nil {
		s.m.t.Fatal(err)
	}
	s.records += len(d.Records)
	for _, r := range d.Records {
		if s.have[r.Position] {
			s.repeats++
		}
		if !bytes.Equal(r.Bytes, s.m.log[r.Position]) {
			s.m.t.Fatalf("%s: record %d of a datagram is not that of the log", s, r.Position)
		}
		s.have[r.Position] = true
	}
}

// arrived returns the last tick up to which all records have arrived.
func (s *seat) arrived() (t lockstep.Tick) {
	for p := s.next; ; p++ {
		if !s.have[p] {
			return s.m.ticks[p-1]
		}
	}
}

// late returns how late ticks were run after they were sealed, sorted, of those sealed from a time on.
func (s *seat) late(from lockstep.Time) (all []lockstep.Time) {
	for t, ran := range s.ran {
		if ran > 0 && s.m.sealed[t] >= from {
			all = append(all, ran-s.m.sealed[t])
		}
	}
	slices.Sort(all)
	return all
}

// earn submits a command.
func (s *seat) earn(value any) {
	if _, err := s.client.Submit(value); err != nil {
		s.m.t.Fatal(err)
	}
	s.submitted++
}

// settle lets everything arrive, and checks that nobody has lost anything.
func (m *match) settle() {
	m.t.Helper()
	for _, s := range m.players {
		s.up.loss, s.down.loss = 0, 0
		for _, l := range []*link{s.datagramsUp, s.datagramsDown} {
			if l != nil {
				*l = link{rand: l.rand, delay: 40 * ms, queue: l.queue}
			}
		}
	}
	m.run(3 * lockstep.Second)
	for _, s := range m.players {
		c := s.client
		if len(s.errors) > 0 || c.Stage() != player.StageLive {
			m.t.Errorf("%s is %v, errors %v", s, c.Stage(), s.errors)
		}
		if c.Tick() < m.host.Now()-2 {
			m.t.Errorf("%s is at tick %d, the match at %d", s, c.Tick(), m.host.Now())
		}
		if len(s.receipts) != int(s.submitted) {
			m.t.Errorf("%s has %d receipts of %d commands", s, len(s.receipts), s.submitted)
		}
		for seq, r := range s.receipts {
			if r.Reason != lockstep.Accepted {
				m.t.Errorf("%s: command %d: %v", s, seq, r)
			}
		}
		if s.waited > 0 {
			m.t.Errorf("%s: a tick that had arrived was waited for %d times", s, s.waited)
		}
		for t := 1; t < len(s.ran); t++ {
			if s.ran[t] == 0 && s.ran[t-1] > 0 {
				m.t.Errorf("%s has not run tick %d", s, t)
			}
		}
	}
	if got := m.host.Stats().Commands; got < uint64(len(m.players)) {
		m.t.Errorf("the log has %d commands", got)
	}
}

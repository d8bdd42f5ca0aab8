package host_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A treadmill is a host with eight live players that are cheap to drive, so that a benchmark measures the host.
type treadmill struct {
	tb   testing.TB
	h    *host.Host
	now  lockstep.Time
	ids  []host.PeerID
	due  lockstep.Time
	log  protocol.Position
	w    protocol.Writer
	m    protocol.Message
	in   []byte
	out  []byte
	seq  lockstep.Sequence
	kind lockstep.Kind
	load []byte
	sent int // bytes
	most int // of one peer in a tick
}

func newTreadmill(tb testing.TB, options func(*host.Options)) *treadmill {
	g := lockstep.MustGame(testgame.BankRules())
	s := lockstep.DefaultSettings(8)
	s.CheckEvery, s.KeyframeEvery = 20, 0
	header, err := g.NewHeader(lockstep.MatchID{1}, s, &testgame.BankConfig{Start: 100})
	if err != nil {
		tb.Fatal(err)
	}
	o := host.Options{
		Authorize: func(token string) (host.Grant, error) {
			return host.Grant{Role: protocol.Seated, Seat: host.AnySeat}, nil
		},
		Random:              func(b []byte) { clear(b); b[0] = 1 },
		AnonymousSpectators: true,
	}
	o.Rates.Commands = host.Rate{N: 1 << 20, Per: lockstep.Second, Burst: 1 << 20}
	o.Rates.Messages, o.Rates.Bytes = o.Rates.Commands, host.Rate{N: 1 << 30, Per: lockstep.Second, Burst: 1 << 30}
	if options != nil {
		options(&o)
	}
	m := &treadmill{tb: tb}
	if m.h, err = host.New(g, header, o); err != nil {
		tb.Fatal(err)
	}
	for i := range 8 {
		m.connect(g, fmt.Sprint("p", i))
	}
	m.kind, m.load = testgame.Encode(tb, g, &testgame.Earn{Coins: 3})
	for range 200 {
		m.tick(0)
		m.tick(2)
	}
	for _, p := range m.h.Info().Peers() {
		if p.State != host.Live {
			tb.Fatalf("peer %d is %v", p.ID, p.State)
		}
	}
	return m
}

func (m *treadmill) connect(g *lockstep.Game, token string) {
	id, ok := m.h.Connect(m.now, "")
	if !ok {
		m.tb.Fatal("no room")
	}
	auth := protocol.NewAuth(g)
	auth.Token = token
	m.h.Receive(m.now, id, m.w.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: auth}))
	m.ids = append(m.ids, id)
}

// tick lets one tick pass, in which each of the eight players sends a number of commands, acks and reports.
func (m *treadmill) tick(commands int) {
	for range commands {
		m.seq++
		m.m = protocol.Message{Kind: protocol.KindCommand, Sequence: m.seq, Command: m.kind, Bytes: m.load}
		m.in = m.w.Append(m.in[:0], &m.m)
		for _, id := range m.ids[:8] {
			m.h.Receive(m.now, id, m.in)
		}
	}
	for before := m.h.Now(); m.h.Now() == before; { // a ping may be due before the tick
		m.now = max(m.now, m.due)
		m.h.Advance(m.now)
		m.drain()
	}
	t := m.h.Now()
	if t%20 == 0 && t > 0 {
		sum, _ := m.h.Referee().Sum(t)
		m.m = protocol.Message{Kind: protocol.KindChecksum, Tick: t, Hash: sum.Hash, Sections: sum.Sections}
		m.all()
	}
	if t%10 == 0 {
		m.m = protocol.Message{Kind: protocol.KindAck, Position: m.log, Tick: t}
		m.all()
		m.drain()
	}
}

func (m *treadmill) all() {
	m.in = m.w.Append(m.in[:0], &m.m)
	for _, id := range m.ids {
		m.h.Receive(m.now, id, m.in)
	}
}

func (m *treadmill) drain() {
	r := m.h.Ready()
	for ; !r.Empty(); r = m.h.Ready() {
		m.h.Persisted(m.now, r.Position)
		for _, id := range r.Peers {
			m.out = m.h.Send(id, m.out[:0], 64<<10)
			m.sent += len(m.out)
			m.most = max(m.most, len(m.out))
		}
	}
	m.due, m.log = r.Next, r.Position
}

func TestHostAllocatesNothing(t *testing.T) {
	for _, commands := range []int{0, 2} {
		m := newTreadmill(t, nil)
		if got := testing.AllocsPerRun(400, func() { m.tick(commands) }); got != 0 {
			t.Errorf("%d commands of each: got %v allocations a tick, want 0", commands, got)
		}
	}
}

// An empty tick is a record of three bytes; a server's WebSocket header has two.
func TestHostEmptyTickBytes(t *testing.T) {
	m := newTreadmill(t, func(o *host.Options) { o.PingEvery, o.IdleTimeout = 1000*lockstep.Second, 2000*lockstep.Second })
	for range 100 {
		m.most = 0
		m.tick(0)
		if m.h.Now()%20 != 0 && m.most+2 > 8 {
			t.Errorf("tick %d: got %d bytes and 2 of header, want at most 8", m.h.Now(), m.most)
		}
	}
}

// BenchmarkHostTick is one tick of a match of eight players: what they send, the seal, the referee, and what is sent to
// each.
//
//	go test -bench HostTick -benchmem ./lockstep
func BenchmarkHostTick(b *testing.B) {
	for _, row := range []struct {
		name     string
		commands int
	}{{"empty", 0}, {"commands=16", 2}} {
		b.Run(row.name, func(b *testing.B) {
			m := newTreadmill(b, nil)
			b.ReportAllocs()
			for b.Loop() {
				m.tick(row.commands)
			}
		})
	}
}

// BenchmarkHostSpectators is one tick with a thousand spectators in addition to the eight players.
func BenchmarkHostSpectators(b *testing.B) {
	m := newTreadmill(b, func(o *host.Options) { o.MaxSpectators = 1000 })
	g := lockstep.MustGame(testgame.BankRules())
	for range 1000 {
		m.connect(g, "")
		m.drain()
	}
	for range 40 {
		m.tick(0)
	}
	b.ReportAllocs()
	for b.Loop() {
		m.tick(0)
	}
}

// A tick of a match with viewers, who all see the same. It includes what the viewers do with their views.
func BenchmarkViewers(b *testing.B) {
	moving := func(w *testgame.Bank, c *testgame.BankConfig, viewer lockstep.Viewer, v *account) error {
		err := seeAccount(w, c, viewer, v)
		for i := range uint32(200) {
			v.Large = append(v.Large, w.Tick/(i+1))
		}
		return err
	}
	for _, n := range []int{0, 500} {
		b.Run(fmt.Sprintf("%d viewers", n), func(b *testing.B) {
			p := newPartyOf(b, showing(moving), nil, func(o *host.Options) { o.MaxSpectators, o.MaxConnecting = 1000, 1000 })
			p.join("a", "p0")
			for i := range n {
				p.viewer(fmt.Sprint("viewer ", i), "watch")
			}
			p.pass(lockstep.Second)
			for b.Loop() {
				p.pass(50 * lockstep.Millisecond)
			}
		})
	}
}

package drift

import (
	"bytes"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
	"github.com/seed-49bee653/samestep/replay"
)

// A Match is a match of a Host and two Clients. The second client may have other rules.
type Match struct {
	Host     *host.Host
	Header   *lockstep.Header
	Clients  []*player.Client
	Evidence []*host.Evidence
	Events   []any // of the last client

	// Change changes what the last client sends, or reports true to drop it; nil for neither.
	Change func(m *protocol.Message) bool

	tb     testing.TB
	peers  []host.PeerID
	now    lockstep.Time
	log    bytes.Buffer
	writer *replay.Writer
}

const ownStep = 5 * lockstep.Millisecond

// New begins a match whose second player has other rules.
func New(tb testing.TB, every uint16, odd lockstep.Rules[World, struct{}], options func(*host.Options), own func(*player.Options)) *Match {
	tb.Helper()
	game := lockstep.MustGame(Rules(nil))
	s := lockstep.DefaultSettings(2)
	s.Seed, s.CheckEvery, s.KeyframeEvery = 11, every, 0
	header, err := game.NewHeader(lockstep.MatchID{3}, s, &struct{}{})
	if err != nil {
		tb.Fatal(err)
	}
	m := &Match{tb: tb, Header: header}
	m.writer = replay.NewWriter(&m.log, replay.WriterOptions{})
	o := host.Options{
		Evidence: true, Desync: host.LogDesynced, Random: func(b []byte) { b[0]++ },
		Authorize: func(token string) (host.Grant, error) {
			return host.Grant{Role: protocol.Seated, Seat: lockstep.Player(token[0] - '0'), Subject: token}, nil
		},
	}
	if options != nil {
		options(&o)
	}
	if m.Host, err = host.New(game, header, o); err != nil {
		tb.Fatal(err)
	}
	for i, g := range []*lockstep.Game{game, lockstep.MustGame(odd)} {
		po := player.Options{Token: string(rune('0' + i)), Seed: 1}
		if i == 1 && own != nil {
			own(&po)
		}
		m.Clients, m.peers = append(m.Clients, player.New(g, po)), append(m.peers, 0)
	}
	return m
}

// Until plays until done, at most for a minute, and calls tick before each step.
func (m *Match) Until(done func() bool, tick func()) {
	m.tb.Helper()
	for end := m.now + 60*lockstep.Second; !done(); m.now += ownStep {
		if m.now > end {
			m.tb.Fatalf("nothing after a minute, at tick %d", m.Host.Now())
		}
		if tick != nil {
			tick()
		}
		m.Host.Advance(m.now)
		for i := range m.Clients {
			m.Clients[i].Advance(m.now)
		}
		for moved := true; moved; {
			moved = m.serve()
			for i := range m.Clients {
				moved = m.play(i) || moved
			}
		}
	}
}

func (m *Match) serve() (moved bool) {
	for r := m.Host.Ready(); !r.Empty(); r = m.Host.Ready() {
		if err := r.AppendTo(m.writer); err != nil {
			m.tb.Fatal(err)
		}
		m.Evidence = append(m.Evidence, r.Evidence...)
		m.Host.Persisted(m.now, r.Position)
		moved = true
	}
	for i, id := range m.peers {
		for {
			b := m.Host.Send(id, nil, 1<<16)
			if len(b) == 0 {
				break
			}
			moved = true
			if err := m.Clients[i].Receive(m.now, b); err != nil {
				m.tb.Fatal(err)
			}
		}
	}
	return moved
}

func (m *Match) play(i int) (moved bool) {
	c := m.Clients[i]
	if c.Stage() == player.StageDialing {
		m.peers[i], _ = m.Host.Connect(m.now, "")
		c.Connected(m.now)
	}
	for b := c.Send(nil); len(b) > 0; b = c.Send(nil) {
		m.Host.Receive(m.now, m.peers[i], m.filter(i, b))
		moved = true
	}
	for r := c.Ready(); len(r.Events) > 0; r = c.Ready() {
		if i == len(m.Clients)-1 {
			m.Events = append(m.Events, r.Events...)
		}
	}
	return moved
}

// filter lets Change change what client i sends.
func (m *Match) filter(i int, b []byte) (out []byte) {
	if m.Change == nil || i != len(m.Clients)-1 {
		return b
	}
	var r protocol.Reader
	var w protocol.Writer
	for len(b) > 0 {
		var msg protocol.Message
		var err error
		if b, err = r.Read(&msg, b); err != nil {
			m.tb.Fatal(err)
		}
		if !m.Change(&msg) {
			out = w.Append(out, &msg)
		}
	}
	if len(out) == 0 {
		out = w.Append(nil, &protocol.Message{Kind: protocol.KindPing})
	}
	return out
}

// Say sends a message of the last client's connection.
func (m *Match) Say(msg *protocol.Message) {
	var w protocol.Writer
	m.Host.Receive(m.now, m.peers[len(m.peers)-1], w.Append(nil, msg))
}

// State returns the last client's state, to be altered.
func (m *Match) State() *World {
	return lockstep.World[World](m.Clients[len(m.Clients)-1].Simulation())
}

// Bundle writes the bundle of the first evidence, and opens it.
func (m *Match) Bundle() *replay.Bundle {
	m.tb.Helper()
	if err := m.writer.Flush(); err != nil {
		m.tb.Fatal(err)
	}
	var archive bytes.Buffer
	if err := replay.WriteBundle(&archive, m.Header, m.Evidence[0], bytes.NewReader(m.log.Bytes())); err != nil {
		m.tb.Fatal(err)
	}
	b, err := replay.OpenBundle(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		m.tb.Fatal(err)
	}
	return b
}

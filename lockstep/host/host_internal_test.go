package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/datagram"
	"github.com/seed-49bee653/samestep/lockstep/host/internal/syncing"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// newQuietHost hosts a match of a game in which nothing happens, with a player and a spectator that do not read.
func newQuietHost(t *testing.T) *Host {
	type W struct{ N uint32 }
	g := lockstep.MustGame(lockstep.Rules[W, W]{
		Name: "nothing", Build: "1",
		New:  func(*W, *lockstep.Settings, *W) error { return nil },
		Step: func(*W, *W, *lockstep.Turn) {},
	})
	header, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(2), &W{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(g, header, Options{
		AnonymousSpectators: true,
		Random:              func(b []byte) { b[0] = 1 },
		Authorize:           func(string) (Grant, error) { return Grant{Role: protocol.Seated}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"x", ""} {
		id, _ := h.Connect(0, "")
		a := protocol.NewAuth(g)
		a.Token = token
		h.Receive(0, id, h.peers.writer.Append(nil, &protocol.Message{Kind: protocol.KindAuth, Auth: a}))
	}
	return h
}

// Unread answers do not pile up.
func TestHostUnreadAnswers(t *testing.T) {
	h := newQuietHost(t)
	p := h.seats.table[0].peer
	for range maxPrivate {
		h.peers.send(p, protocol.Message{Kind: protocol.KindPong, Nonce: 1 << 60})
	}
	if code, _, closed := h.Closed(p.id); !closed || code != protocol.CloseSlow || len(p.out) > maxPrivate {
		t.Errorf("closed %t as %v with %d bytes waiting", closed, code, len(p.out))
	}
	if h.peers.all[1].state == Closed {
		t.Error("the other one is closed, too")
	}
}

// CheckBounds finds each kind of inconsistency.
func TestCheckBoundsControl(t *testing.T) {
	for _, row := range []struct {
		want   string
		change func(h *Host, p *peer)
	}{
		{"", func(h *Host, p *peer) {}},
		{"of memory", func(h *Host, p *peer) { h.log.keyframes.Put(0, &syncing.State{Roster: make([]byte, 64<<20)}) }},
		{"peers and", func(h *Host, p *peer) { h.peers.byID[99] = p }},
		{"spectators, want", func(h *Host, p *peer) { h.options.MaxSpectators = 0 }},
		{"is owned by", func(h *Host, p *peer) { h.seats.table[1].peer = p }},
		{"is owned by", func(h *Host, p *peer) { p.state = Closed }},
		{"without an owner", func(h *Host, p *peer) { h.seats.table[0].peer = nil }},
		{"bytes wait", func(h *Host, p *peer) { p.out = make([]byte, maxPrivate+1) }},
		{"cursor", func(h *Host, p *peer) { p.stream.Pass(99) }},
		{"speaks for", func(h *Host, p *peer) { h.peers.all[1].seat, h.peers.all[1].state = 0, Live }},
		{"has a keyframe", func(h *Host, p *peer) { p.state = Live; p.stream.Give(h.log.keyframe(h.now, h.seats.table, h.lobby)) }},
	} {
		h := newQuietHost(t)
		row.change(h, h.seats.table[0].peer)
		if got := fmt.Sprint(h.Info().CheckBounds(100)); !strings.Contains(got, row.want) || row.want == "" && got != "<nil>" {
			t.Errorf("got %s, want %q", got, row.want)
		}
	}
}

func TestHostOptions(t *testing.T) {
	random := func([]byte) {}
	s := lockstep.DefaultSettings(250)
	for _, row := range []struct {
		want string
		o    Options
	}{
		{"<nil>", Options{Random: random}},
		{"random", Options{}},
		{"lag: got 3, want 20", Options{Random: random, Lag: 3}},
		{"input delay: got 251", Options{Random: random, InputDelay: 251}},
		{"rate 2: got", Options{Random: random, Rates: Rates{Commands: Rate{N: 1}}}},
		{"slow percent", Options{Random: random, Slow: SlowPolicy{Percent: 101}}},
		{"start players", Options{Random: random, Start: StartPolicy{Players: 251}}},
	} {
		if got := fmt.Sprint(row.o.complete(&s)); !strings.Contains(got, row.want) {
			t.Errorf("got %s, want %q", got, row.want)
		}
	}
}

// systemCommands is the largest number of commands of System in a frame.
const systemCommands = lockstep.MaxPlayers + 64

// The largest frame that players can make is one message, in a match of any size.
func TestLargestFrameIsOneMessage(t *testing.T) {
	for players := 1; players <= lockstep.MaxPlayers; players++ {
		s := lockstep.DefaultSettings(uint8(players))
		o := Options{Random: func([]byte) {}}
		if err := o.complete(&s); err != nil {
			t.Fatal(err)
		}
		payloads := o.share(&s) - commandOverhead*o.MaxPerTick
		if payloads < o.MaxPerTick {
			t.Errorf("%d players: %d bytes for %d commands", players, payloads, o.MaxPerTick)
		}
		largest := 5 + 1 + players*(o.MaxPerTick*commandOverhead+payloads) + systemCommands*(commandOverhead+8)
		if largest > protocol.MaxServerMessage {
			t.Errorf("%d players: a frame can have %d bytes, want at most %d", players, largest, protocol.MaxServerMessage)
		}
	}
}

// Where the stream waits for lost packets and datagrams arrive, commands are as late as the datagrams; not any more when they stop.
func TestDelayOfDatagrams(t *testing.T) {
	h := newQuietHost(t)
	p := &peer{}
	p.link.Pong(300*lockstep.Millisecond, p.link.Ping(0, h.options.PingEvery, 0), true)
	stream := p.late(h.now)
	p.datagrams = &datagram.HostEnd{}
	if got := p.late(h.now); got != stream || got < 350*lockstep.Millisecond {
		t.Errorf("got %d us without an acknowledgement, want %d, and 350,000 or more", got, stream)
	}
	for i := range uint32(20) { // a round trip of 100 ms
		sent := h.now
		if _, ok := p.datagrams.Next(sent); !ok {
			t.Fatal("no number is left")
		}
		h.now += 100 * lockstep.Millisecond
		if _, err := p.datagrams.Take(h.now, &datagram.Head{Number: i + 1, Seen: i + 1, Count: i + 1}); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.late(h.now); got >= stream/2 || got < 1 {
		t.Errorf("got %d us by datagrams, want less than half of %d", got, stream)
	}
	p.datagrams.Next(h.now)
	h.now += 60 * lockstep.Second
	if got := p.late(h.now); got != stream {
		t.Errorf("got %d us when datagrams have stopped, want %d", got, stream)
	}
}

// What a host waits for by default is as long as usual, and in slow matches some ticks.
func TestDefaultsOfSlowMatches(t *testing.T) {
	for period, want := range map[lockstep.Time]string{
		50 * lockstep.Millisecond:  "ack 10, lag 200, views 2, grace 30 s, inactive 300 s, guests 120 s",
		600 * lockstep.Millisecond: "ack 1, lag 17, views 1, grace 30 s, inactive 300 s, guests 120 s",
		2 * lockstep.Second:        "ack 1, lag 5, views 1, grace 30 s, inactive 300 s, guests 120 s",
		60 * lockstep.Second:       "ack 1, lag 4, views 1, grace 120 s, inactive 600 s, guests 600 s",
	} {
		s, o := lockstep.DefaultSettings(2), Options{Random: func([]byte) {}}
		s.TickMicros = uint32(period)
		if err := o.complete(&s); err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("ack %d, lag %d, views %d, grace %d s, inactive %d s, guests %d s",
			o.AckEvery, o.Lag, o.Views.Every, o.Grace/lockstep.Second, o.Inactive.After/lockstep.Second, o.Inactive.Guests/lockstep.Second)
		if got != want {
			t.Errorf("ticks of %d us: got %s, want %s", period, got, want)
		}
	}
}

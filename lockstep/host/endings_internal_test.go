package host

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A relayed match is one without a referee, whose peers acknowledge all that they get.
type relayed struct {
	*Host
	t   *testing.T
	now lockstep.Time
	w   protocol.Writer
}

func newRelayed(t *testing.T, players uint8, o Options) *relayed {
	t.Helper()
	type world struct{ N uint32 }
	g := lockstep.MustGame(lockstep.Rules[world, world]{
		Name: "nothing", Build: "1",
		New:  func(*world, *lockstep.Settings, *world) error { return nil },
		Step: func(*world, *world, *lockstep.Turn) {},
	})
	header, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(players), &world{})
	if err != nil {
		t.Fatal(err)
	}
	n := byte(0)
	o.Relay, o.Desync, o.Random = true, ResyncDesynced, func(b []byte) { n++; b[0] = n }
	o.Authorize = func(s string) (Grant, error) { return Grant{Role: protocol.Seated, Seat: AnySeat, Subject: s}, nil }
	h, err := New(g, header, o)
	if err != nil {
		t.Fatal(err)
	}
	return &relayed{Host: h, t: t}
}

func (x *relayed) join(subject string) {
	if _, ok := x.Connect(x.now, ""); !ok {
		x.t.Fatal("no room")
	}
	a := protocol.NewAuth(x.game)
	a.Token = subject
	x.says(x.peers.all[len(x.peers.all)-1], &protocol.Message{Kind: protocol.KindAuth, Auth: a})
}

func (x *relayed) says(p *peer, m *protocol.Message) { x.Receive(x.now, p.id, x.w.Append(nil, m)) }

// run plays up to a tick.
func (x *relayed) run(to lockstep.Tick) {
	for x.c.Now() < to {
		x.now += x.pace.Period()
		x.Advance(x.now)
		x.Ready()
		x.Persisted(x.now, x.ring.Next())
		for _, p := range x.peers.all {
			x.Send(p.id, nil, 1<<20)
			if p.stream.High > 0 {
				x.says(p, &protocol.Message{Kind: protocol.KindAck, Position: p.stream.High, Tick: x.c.Now()})
			}
		}
	}
	x.Ready()
}

// kinds returns the kinds of all new events.
func (x *relayed) kinds() (kinds []EventKind) {
	for _, e := range x.Ready().Events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// A peer that is closed because it does not read its answers has left its seat when the call returns: an admin who removes the player
// next removes it.
func TestClosedPeerHasNoSeat(t *testing.T) {
	x := newRelayed(t, 3, Options{RingRecords: 16, Lag: 20, AckEvery: 1})
	x.join("x")
	x.join("y")
	every := lockstep.Tick(x.header.Settings.CheckEvery)
	x.run(2*every + 15)
	x.join("z")
	x.run(3*every + 3)
	for _, p := range x.peers.all[:2] {
		x.says(p, &protocol.Message{Kind: protocol.KindChecksum, Tick: 3 * every, Hash: 1})
		p.out = make([]byte, maxPrivate-roomClosing)
	}
	x.Ready()
	x.now += x.pace.Period()
	x.Advance(x.now) // asks both for their state
	if len(x.peers.ended) > 0 {
		t.Errorf("%d peers are closed and not concluded", len(x.peers.ended))
	}
	if err := x.Info().CheckBounds(1000); err != nil {
		t.Error(err)
	}
	if kinds := x.kinds(); len(kinds) < 2 || kinds[0] != PeerLost || kinds[1] != PeerClosed {
		t.Errorf("got events %v", kinds)
	}
	if _, err := x.Admin().Remove(x.now, 0, "bye"); err != nil {
		t.Error(err)
	}
	if kinds := x.kinds(); len(kinds) == 0 || kinds[0] != PeerLeft {
		t.Errorf("got events %v of a removal", kinds)
	}
}

// A desync that a call decides is told after that call, whichever it is.
func TestDesyncIsToldAtOnce(t *testing.T) {
	x := newRelayed(t, 3, Options{})
	for _, subject := range []string{"x", "y", "z"} {
		x.join(subject)
	}
	every := lockstep.Tick(x.header.Settings.CheckEvery)
	x.run(every + 5)
	for i, p := range x.peers.all[:2] {
		x.says(p, &protocol.Message{Kind: protocol.KindChecksum, Tick: every, Hash: uint64(i + 1)})
	}
	x.Ready()
	x.peers.all[2].stream.Pass(0) // it lags, and needs a state
	x.Send(x.peers.all[2].id, nil, 1<<20)
	if kinds := x.kinds(); len(kinds) == 0 || kinds[len(kinds)-1] != ChecksTied {
		t.Errorf("got events %v", kinds)
	}
}

// The owner is not asked to send to a connection that is gone.
func TestGonePeerIsNotReady(t *testing.T) {
	x := newRelayed(t, 2, Options{})
	x.join("x")
	x.Disconnect(x.now, x.peers.all[0].id)
	if peers := x.Ready().Peers; len(peers) > 0 {
		t.Errorf("got peers %v", peers)
	}
}

package host_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// newRelayParty is a match of four seats without a referee, whose ring holds two seconds.
func newRelayParty(t *testing.T) *party {
	return newParty(t, func(s *lockstep.Settings) { s.Players = 4 }, func(o *host.Options) {
		o.Relay, o.RingRecords, o.Lag = true, 40, 200
	})
}

// A state is passed on though most players are away, and they get it when they come back.
func TestHostRelayReturn(t *testing.T) {
	p := newRelayParty(t)
	a, b, c := p.join("a", "p0"), p.join("b", "p1"), p.join("c", "p2")
	p.pass(lockstep.Second)
	b.cut()
	c.cut()
	p.pass(8 * lockstep.Second) // the ring has nothing of before
	w := p.join("w", "watch")
	b.resume()
	p.pass(2 * lockstep.Second)
	p.unharmed(t, a, w)
	if b.syncs != 2 || b.follower.Tick() != p.h.Now() {
		t.Errorf("b got %d keyframes, and is at tick %d of %d", b.syncs, b.follower.Tick(), p.h.Now())
	}
}

// A player that reports nothing does not keep a state from others.
func TestHostRelaySilent(t *testing.T) {
	p := newRelayParty(t)
	a, b, c := p.join("a", "p0"), p.join("b", "p1"), p.join("c", "p2")
	p.pass(lockstep.Second)
	c.reticent = true
	p.pass(4 * lockstep.Second)
	w := p.join("w", "watch")
	p.pass(2 * lockstep.Second)
	p.unharmed(t, a, b, w)
}

// A spectator reports before there is a verdict, and is resynced when there is one.
func TestHostRelayHealsSpectator(t *testing.T) {
	p := newRelayParty(t)
	p.join("a", "p0")
	p.join("b", "p1")
	p.join("c", "p2").reticent = true // it has the others wait
	w := p.join("w", "watch")
	p.pass(5 * lockstep.Second)
	if err := w.corrupt("Die"); err != nil {
		t.Fatal(err)
	}
	p.pass(3 * lockstep.Second)
	if w.syncs != 2 || p.events[host.PeerDesynced] == 0 || w.follower.Simulation().Hash() != p.file.Simulation().Hash() {
		t.Errorf("%d keyframes, %d desyncs, at tick %d of %d", w.syncs, p.events[host.PeerDesynced], w.follower.Tick(), p.h.Now())
	}
}

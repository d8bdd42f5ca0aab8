package host_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// agree fails unless every connected guest has the referee's state of its tick.
func (p *party) agree() {
	p.t.Helper()
	compared := 0
	for _, g := range p.guests {
		if g.id == 0 || g.follower == nil || g.follower.Tick() != p.h.Now() {
			continue
		}
		compared++
		if got, want := g.follower.Simulation().Hash(), p.file.Simulation().Hash(); got != want {
			p.t.Errorf("%s has checksum %x at tick %d, the log %x", g.name, got, g.follower.Tick(), want)
		}
	}
	if compared == 0 {
		p.t.Error("nobody is at the present")
	}
	if r := p.h.Referee(); r != nil && r.Simulation().Hash() != p.file.Simulation().Hash() {
		p.t.Error("the log gives another state than the referee's")
	}
}

func TestHostCourse(t *testing.T) {
	p := newParty(t, nil, nil)
	a, b := p.join("a", "p0"), p.join("b", "p1")
	p.pass(lockstep.Second)
	for range 40 {
		a.command(t, 1)
		b.command(t, 2)
		p.pass(100 * lockstep.Millisecond)
	}
	p.agree()
	late := p.join("late", "")
	p.pass(lockstep.Second)
	if late.id != 0 {
		t.Error("an anonymous spectator was let in")
	}
	late = p.join("late", "watch")
	p.pass(lockstep.Second)
	b.cut()
	p.pass(lockstep.Second)
	b.command(t, 3) // lost
	b.resume()
	b.submit(t, b.sequence, 3)
	p.pass(lockstep.Second)
	p.agree()
	if !b.welcome.Resumed || b.syncs != 1 {
		t.Errorf("resumed %t with %d keyframes, want the tail only", b.welcome.Resumed, b.syncs)
	}
	if len(b.receipts) != 41 || late.follower.Tick() != p.h.Now() {
		t.Errorf("got %d receipts, spectator at tick %d", len(b.receipts), late.follower.Tick())
	}
	if got := p.h.Stats(); got.Desyncs != 0 || got.SyncKeyframes > 3 {
		t.Errorf("%+v", got)
	}
}

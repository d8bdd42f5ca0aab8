package host_test

import (
	"fmt"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Spectators that join and leave to make the server send keyframes are sent a bounded number of bytes, from one address
// or from many. A player still gets a keyframe at once.
func TestHostKeyframeFlood(t *testing.T) {
	for _, addresses := range []int{1, 1000} {
		p := newParty(t, nil, func(o *host.Options) {
			o.AnonymousSpectators = true
			o.Rates.Keyframes = host.Rate{N: 100, Per: lockstep.Second, Burst: 2000}
		})
		a, b := p.join("a", "p0"), p.join("b", "p1")
		const seconds = 12
		sent := 0
		for i := range seconds * 200 {
			g := p.guest("attacker", "")
			g.addr = fmt.Sprint("address ", i%addresses)
			g.connect()
			p.deliver()
			sent += len(g.chunks)
			if g.id != 0 {
				g.cut()
			}
			p.guests = p.guests[:2]
			p.pass(5 * lockstep.Millisecond)
		}
		share := 8
		if addresses > 1 {
			share = 32
		}
		// A keyframe that has begun is sent to its end.
		if most := share * (2000 + 100*seconds + len(b.chunks)); sent > most || sent < most/2 {
			t.Errorf("%d addresses: got %d bytes of keyframes, want at most %d", addresses, sent, most)
		}
		p.unharmed(t, a, b)
		a.cut()
		a.connect()
		p.deliver()
		if a.syncs != 2 {
			t.Errorf("%d addresses: the player got %d keyframes, want 2", addresses, a.syncs)
		}
	}
}

// A spectator that the limit keeps from its keyframe is told to come later, and not that it was slow.
func TestHostKeyframesLater(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) {
		o.SyncTimeout = lockstep.Second
		o.Rates.Keyframes = host.Rate{N: 1, Per: 60 * lockstep.Second, Burst: 1}
	})
	p.pass(lockstep.Second)
	var last *guest
	for range 33 { // eight times four at once
		last = p.join("w", "watch")
	}
	if last.syncs != 0 {
		t.Fatalf("the last one got %d keyframes at once", last.syncs)
	}
	p.pass(lockstep.Second)
	if last.code != protocol.CloseBusy || p.guests[0].syncs != 1 {
		t.Errorf("closed as %v; the first one got %d keyframes", last.code, p.guests[0].syncs)
	}
	p.pass(10 * lockstep.Second)
	if late := p.join("w", "watch"); late.syncs != 1 {
		t.Errorf("later: %d keyframes", late.syncs)
	}
}

// A state of any size can be sent: the limits grow with it.
func TestHostKeyframesOfLargeStates(t *testing.T) {
	p := newParty(t, nil, func(o *host.Options) {
		o.Rates.Keyframes = host.Rate{N: 1, Per: 60 * lockstep.Second, Burst: 1}
	})
	a := p.join("a", "p0")
	for range 4 {
		a.cut()
		a.connect()
		p.deliver()
	}
	if a.syncs != 4 {
		t.Errorf("got %d keyframes at once, want 4", a.syncs)
	}
	p.pass(16 * lockstep.Second)
	if a.syncs != 5 || a.id == 0 {
		t.Errorf("got %d keyframes after 16 s, want 5", a.syncs)
	}
}

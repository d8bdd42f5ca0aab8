// The other engine of package state uses reflection, and that allocates.

//go:build !samestep_portable && (386 || amd64 || arm64 || wasm)

package datagram_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/player"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// A pair is a host and a player without links: what one sends, the other has at once.
type pair struct {
	host      *host.Host
	client    *player.Client
	now       lockstep.Time
	id        host.PeerID
	buf       []byte
	datagrams int
	lose      bool // every third datagram to the player
}

func newPair(tb testing.TB) *pair {
	g, header := testgame.NewBankMatch(tb, 2)
	header.Settings.CheckEvery, header.Settings.KeyframeEvery = 20, 0
	h, err := host.New(g, header, host.Options{
		Authorize: func(string) (host.Grant, error) {
			return host.Grant{Role: protocol.Seated, Seat: host.AnySeat}, nil
		},
		Random: func(b []byte) { b[0] = 1 },
	})
	if err != nil {
		tb.Fatal(err)
	}
	p := &pair{host: h, client: player.New(g, player.Options{Token: "x"})}
	p.client.Advance(0)
	p.id, _ = h.Connect(0, "here")
	p.client.Connected(0)
	for range 200 {
		p.tick(tb)
	}
	if p.client.Stage() != player.StageLive {
		tb.Fatalf("the player is %v", p.client.Stage())
	}
	return p
}

// tick plays one tick.
func (p *pair) tick(tb testing.TB) {
	h, c := p.host, p.client
	for range 2 {
		p.now += 25 * ms
		h.Advance(p.now)
		for r := h.Ready(); !r.Empty(); r = h.Ready() {
			h.Persisted(p.now, r.Position)
		}
		for {
			if p.buf = h.SendDatagram(p.id, p.buf[:0]); len(p.buf) == 0 {
				break
			}
			if p.datagrams++; p.lose && p.datagrams%3 == 0 {
				continue
			}
			if err := c.ReceiveDatagram(p.now, p.buf); err != nil {
				tb.Fatal(err)
			}
		}
		for {
			if p.buf = h.Send(p.id, p.buf[:0], protocol.MaxServerMessage); len(p.buf) == 0 {
				break
			}
			if err := c.Receive(p.now, p.buf); err != nil {
				tb.Fatal(err)
			}
		}
		c.Advance(p.now)
		c.Ready()
		for {
			if p.buf = c.SendDatagram(p.buf[:0]); len(p.buf) == 0 {
				break
			}
			h.ReceiveDatagram(p.now, p.id, p.buf)
		}
		for {
			if p.buf = c.Send(p.buf[:0]); len(p.buf) == 0 {
				break
			}
			h.Receive(p.now, p.id, p.buf)
		}
	}
}

// Nothing is allocated in a tick that datagrams carry, also if a third of them is lost.
func TestTickAllocatesNothing(t *testing.T) {
	for _, lose := range []bool{false, true} {
		p := newPair(t)
		p.lose = lose
		for range 200 {
			p.tick(t)
		}
		before := p.datagrams
		if n := testing.AllocsPerRun(200, func() { p.tick(t) }); n > 0 {
			t.Errorf("lost %t: got %v allocations a tick, want 0", lose, n)
		}
		if p.datagrams-before < 200 {
			t.Errorf("lost %t: got %d datagrams in 201 ticks", lose, p.datagrams-before)
		}
	}
}

// One tick from the host to a player and back, over datagrams.
func BenchmarkTick(b *testing.B) {
	p := newPair(b)
	b.ReportAllocs()
	for b.Loop() {
		p.tick(b)
	}
}

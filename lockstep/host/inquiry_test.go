package host_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/lockstep/protocol"
)

// Players that send large states without end share the memory of one player's two states. They do not keep an honest
// player's states from the evidence.
func TestHostInquiryMemory(t *testing.T) {
	const most = 64 << 10
	p := newParty(t, func(s *lockstep.Settings) { s.Players = 6 }, func(o *host.Options) {
		o.Desync, o.MaxEvidence = host.LogDesynced, most
	})
	for _, token := range []string{"p0", "p1", "p2", "p3", "p4", "p5"} {
		p.join(token, token)
	}
	p.pass(lockstep.Second)
	hogs, honest := p.guests[:5], p.guests[5]
	for _, g := range p.guests {
		g.mute = true
		if err := g.corrupt("Die"); err != nil {
			t.Fatal(err)
		}
	}
	for p.events[host.PeerDesynced] < len(p.guests) {
		p.pass(10 * lockstep.Millisecond)
	}
	agreed := p.h.Now() - lockstep.Tick(p.header.Settings.CheckEvery)
	for offset := 0; offset < most-1<<10; offset += 1 << 10 {
		for _, g := range hogs {
			g.send(&protocol.Message{Kind: protocol.KindState, Tick: agreed, Offset: uint32(offset), Total: most, Bytes: make([]byte, 1<<10)})
		}
		if err := p.h.Info().CheckBounds(1 << 10); err != nil {
			t.Fatal(err)
		}
	}
	ended := len(p.evidence)
	if ended == 0 || ended > len(hogs) {
		t.Fatalf("%d of %d inquiries were ended because of their size, want some", ended, len(hogs))
	}
	for _, e := range p.evidence {
		if e.Report.Player == 5 {
			t.Error("the inquiry of the smallest player was ended")
		}
	}
	honest.mute = false
	honest.sendState(agreed)
	honest.sendState(p.h.Now())
	last := p.evidence[len(p.evidence)-1]
	if last.Report.Player != 5 || len(last.Exhibits) != 2 || last.Exhibits[0].Player == nil || last.Exhibits[1].Player == nil {
		t.Errorf("got evidence %+v, want both states of player 5", last)
	}
}

// The end of a match does not lose the evidence of a desync shortly before.
func TestEvidenceAtTheEnd(t *testing.T) {
	p := newParty(t, nil, nil)
	a := p.join("a", "p0")
	p.pass(lockstep.Second)
	a.mute = true
	if err := a.corrupt("Die"); err != nil {
		t.Fatal(err)
	}
	for p.events[host.PeerDesynced] == 0 {
		p.pass(10 * lockstep.Millisecond)
	}
	if len(p.evidence) > 0 {
		t.Fatal("the evidence did not wait for the states")
	}
	p.h.Admin().End(p.now, "enough")
	p.pass(10 * lockstep.Millisecond)
	if len(p.evidence) != 1 || p.evidence[0].Report.Player != 0 || p.evidence[0].Exhibits[0].Referee == nil {
		t.Errorf("got %d pieces of evidence, want one", len(p.evidence))
	}
}

// A joiner that waits for a state that no client can have yet does not make the host due at once again and again.
func TestHostSeekStateProgress(t *testing.T) {
	p := newParty(t, func(s *lockstep.Settings) { s.CheckEvery = 1000 }, func(o *host.Options) {
		o.Relay, o.RingRecords, o.Lag = true, 40, 20
	})
	p.join("a", "p0")
	p.pass(5 * lockstep.Second)
	p.join("b", "p1")
	for range 100 {
		p.now = max(p.now, p.next())
		p.h.Advance(p.now)
		if next := p.next(); next <= p.now {
			t.Fatalf("Next is %v at %v, after Advance", next, p.now)
		}
	}
}

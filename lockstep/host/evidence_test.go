package host_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/host"
)

// The state that a late joiner was sent was right, so the evidence begins there. If the player has agreed since, the
// evidence says so, too.
func TestEvidenceBegan(t *testing.T) {
	p := newParty(t, nil, nil)
	a := p.join("a", "p0")
	p.pass(10 * lockstep.Second)
	b := p.join("b", "p1")
	joined := p.h.Now()
	if err := b.corrupt("Die"); err != nil {
		t.Fatal(err)
	}
	p.pass(5 * lockstep.Second)
	if len(p.evidence) == 0 {
		t.Fatal("no evidence")
	}
	if e := p.evidence[0]; e.Report.Player != 1 || e.Report.Agreed != 0 || e.Began == 0 || e.Began > joined || e.Began >= e.Report.Tick {
		t.Errorf("a late joiner: player %d, agreed at tick %d, began at tick %d, tick %d; joined by tick %d", e.Report.Player, e.Report.Agreed, e.Began, e.Report.Tick, joined)
	}
	before := len(p.evidence)
	if err := a.corrupt("Die"); err != nil {
		t.Fatal(err)
	}
	p.pass(5 * lockstep.Second)
	if len(p.evidence) == before {
		t.Fatal("no evidence")
	}
	if e := p.evidence[before]; e.Report.Player != 0 || e.Report.Agreed == 0 || e.Began != 0 {
		t.Errorf("from the beginning: player %d, agreed at tick %d, began at tick %d", e.Report.Player, e.Report.Agreed, e.Began)
	}
}

// A referee that has another result when it computes again, and not the player's either, reports the referee and the player: that is one
// desync, with one bundle.
func TestEvidenceOfBothIsOne(t *testing.T) {
	const tick = 33
	rules, times := testgame.BankRules(), 0
	step := rules.Step
	rules.Step = func(b *testgame.Bank, c *testgame.BankConfig, turn *lockstep.Turn) {
		if step(b, c, turn); turn.Tick == tick {
			times++
			b.Die += uint64(min(times, 4)) // the referee's, the file's, the player's, and from then on another one
		}
	}
	p := newPartyOf(t, rules, nil, nil)
	p.wrongReferee = 1 << 20
	p.join("a", "p0")
	p.pass(3 * lockstep.Second)
	if p.events[host.RefereeHealed] != 1 || p.events[host.PeerDesynced] == 0 {
		t.Fatalf("healed %d times, %d desyncs", p.events[host.RefereeHealed], p.events[host.PeerDesynced])
	}
	about := map[lockstep.Tick]int{}
	for _, e := range p.evidence {
		if about[e.Report.Tick]++; about[e.Report.Tick] > 1 {
			t.Errorf("more than one of tick %d: %v", e.Report.Tick, &e.Report)
		}
	}
	if len(about) == 0 {
		t.Error("no evidence")
	}
}

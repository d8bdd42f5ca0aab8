package host_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
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

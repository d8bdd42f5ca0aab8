package follow

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A mismatch is told once, when its check is closed, with all groups, and again only if somebody else differs.
func TestMismatchIsToldOnce(t *testing.T) {
	const every = 20
	var m mismatches
	told := func() string {
		e, news := m.closed()
		if !news {
			return ""
		}
		return e.String()
	}
	m.add(20, every, 0, 1)
	m.add(20, every, 1, 2)
	m.add(20, every, 2, 1)
	if got := told(); got != "the states of tick 20 differ, and no group has a majority: player 0, player 2 | player 1" {
		t.Errorf("a tie: got %q", got)
	}
	m.add(40, every, 0, 1)
	m.add(40, every, 1, 2)
	if got := told(); got != "" {
		t.Errorf("the next check: got %q", got)
	}
	m.agree(100, every, 7)
	m.add(100, every, 1, 2)
	e, news := m.closed()
	if got := e.String(); !news || got != "the states of tick 100 differ: player 1" || !e.Agreed() || !e.Has(1) || e.Has(0) {
		t.Errorf("with a majority: got %q", got)
	}
	m.add(100, every, 0, 3) // it reported later
	if got := told(); got != "the states of tick 100 differ: player 1, player 0" {
		t.Errorf("a late report: got %q", got)
	}
	if e.Has(lockstep.Player(0)) {
		t.Error("an event was changed")
	}
}

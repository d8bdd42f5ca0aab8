package lockstep_test

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

// A paused match that its players have left can go on, and then be joined again.
func TestResumeForNobody(t *testing.T) {
	game := lockstep.MustGame(lampRules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &nobody{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := lockstep.NewCoordinator(game, header, lockstep.NewRing(100, 1<<10), lockstep.CoordinatorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	do := func(_ lockstep.Tick, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tick := func() bool {
		f, err := c.Tick()
		if err != nil {
			t.Fatal(err)
		}
		return f != nil
	}
	do(c.Join(0))
	do(c.Pause(0))
	if !tick() || tick() {
		t.Error("the match is not paused")
	}
	do(c.Leave(0))
	if _, err := c.Join(0); err == nil {
		t.Error("joined before the leave was sealed")
	}
	if _, err := c.Resume(0); err == nil {
		t.Error("resumed by somebody who has left")
	}
	do(c.Resume(lockstep.System))
	if !tick() {
		t.Error("the match does not go on")
	}
	do(c.Join(0))
	if !tick() {
		t.Error("the match stands still again")
	}
}

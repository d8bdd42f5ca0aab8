package coordinator_test

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// lampMatch returns the Coordinator of a match of two, and a function that seals its next tick, or returns false while
// it is paused.
func lampMatch(t *testing.T) (c *coordinator.Coordinator, tick func() bool) {
	t.Helper()
	game := lockstep.MustGame(testgame.LampRules)
	header, err := game.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(2), &testgame.Nobody{})
	if err != nil {
		t.Fatal(err)
	}
	c, err = coordinator.New(game, header, record.Tee(), coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c, func() bool {
		f, err := c.Tick()
		if err != nil {
			t.Fatal(err)
		}
		return f != nil
	}
}

// A paused match without players can be resumed, and then be joined again.
func TestResumeForNobody(t *testing.T) {
	c, tick := lampMatch(t)
	do := testgame.Does(t)
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

// A match that is paused, or will be after the next tick, cannot be paused again, so one resume is enough. It can be
// paused again in the tick of the resume.
func TestPauseTwice(t *testing.T) {
	c, tick := lampMatch(t)
	do := testgame.Does(t)
	do(c.Join(0))
	do(c.Join(1))
	do(c.Pause(0))
	if _, err := c.Pause(1); err != coordinator.ErrPaused {
		t.Errorf("a second pause in the same tick: got %v, want %v", err, coordinator.ErrPaused)
	}
	if !tick() || tick() {
		t.Error("the match is not paused")
	}
	if _, err := c.Pause(1); err != coordinator.ErrPaused {
		t.Errorf("a pause of a paused match: got %v, want %v", err, coordinator.ErrPaused)
	}
	do(c.Resume(0))
	if first := tick(); !first || !tick() {
		t.Error("the match does not go on")
	}
	do(c.Pause(0))
	tick()
	do(c.Resume(0))
	do(c.Pause(1))
	if !tick() || tick() {
		t.Error("the match is not paused again")
	}
}

// Even if players are lost and return again and again while a match is paused, its next frame has room for the command
// that resumes it.
func TestResumeAfterManyReturns(t *testing.T) {
	c, tick := lampMatch(t)
	do := testgame.Does(t)
	do(c.Join(0))
	do(c.Pause(0))
	tick()
	var err error
	for n := 0; err == nil; n++ {
		if n > 10_000 {
			t.Fatal("a frame has no end")
		}
		if _, err = c.Lose(0); err == nil {
			_, err = c.Return(0)
		}
	}
	if !errors.Is(err, coordinator.ErrBusy) {
		t.Fatalf("got %v, want %v", err, coordinator.ErrBusy)
	}
	do(c.Resume(0))
	if _, err := c.Lose(0); !errors.Is(err, coordinator.ErrBusy) {
		t.Errorf("a frame that is full: got %v, want %v", err, coordinator.ErrBusy)
	}
	if first := tick(); !first || !tick() {
		t.Error("the match does not go on")
	}
}

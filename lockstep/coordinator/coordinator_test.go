package coordinator_test

import (
	"bytes"
	"errors"
	"slices"
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

// decoded returns what the records of a log say, from the header on.
func decoded(t *testing.T, log [][]byte) []record.Record {
	t.Helper()
	var d record.Decoder
	var all []record.Record
	for _, b := range log {
		r, rest, err := d.Decode(bytes.Clone(b))
		if err != nil || len(rest) > 0 {
			t.Fatalf("record %d: %v, %d more bytes", len(all), err, len(rest))
		}
		all = append(all, *r)
	}
	return all
}

// The tick in which the rules end the match is the last one. Its checksum and the result follow it.
func TestRulesEndMatch(t *testing.T) {
	for _, last := range []lockstep.Tick{2, 3, 4, 8, 9} { // 4 is a checked tick, 8 has a keyframe
		g, log := testgame.RecordRace(t, last, 20, coordinator.Options{})
		all := decoded(t, log)
		end := all[len(all)-1]
		want := &testgame.Victory{Winner: 1, Steps: []int32{0, 10}}
		got, err := g.DecodeResult(end.Result)
		if v, ok := got.(*testgame.Victory); err != nil || !ok || v.Winner != want.Winner || !slices.Equal(v.Steps, want.Steps) {
			t.Errorf("tick %d: got result %+v and %v, want %+v", last, got, err, want)
		}
		if end.Kind != record.KindEnd || !end.ByRules || end.Tick != last {
			t.Errorf("tick %d: got end %+v", last, end)
		}
		checks := 0
		for _, r := range all {
			if r.Kind == record.KindChecksum && r.Tick == last {
				checks++
			}
		}
		if checks != 1 {
			t.Errorf("tick %d: got %d checksums of the last tick, want 1", last, checks)
		}
	}
}

// After the end of the rules the coordinator takes nothing more.
func TestNothingAfterEnd(t *testing.T) {
	g, h := testgame.NewRace(t)
	c, err := coordinator.New(g, h, &record.Tail{}, coordinator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Join(0); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Tick(); err != nil {
		t.Fatal(err)
	}
	kind, payload, _ := g.NewPayloads().Encode(&testgame.Stop{})
	c.Submit(0, 1, kind, payload)
	if f, err := c.Tick(); f == nil || f.Tick != 2 || err != nil {
		t.Fatalf("got frame %v and %v, want the last one", f, err)
	}
	if result, byRules := c.Result(); len(result) != 0 || !byRules {
		t.Errorf("got result %x by the rules %v, want none by the rules", result, byRules)
	}
	if f, err := c.Tick(); f != nil || !errors.Is(err, coordinator.ErrEnded) {
		t.Errorf("got frame %v and %v after the end", f, err)
	}
	if r := c.Submit(0, 2, kind, payload); r.Reason != lockstep.MatchEnded {
		t.Errorf("a command after the end: got %v", r.Reason)
	}
	if err := c.End("by hand"); !errors.Is(err, coordinator.ErrEnded) {
		t.Errorf("a second end: got %v", err)
	}
}

// A crash between the last tick and the end record loses no end: the recovered coordinator writes the same log.
func TestConcludeAfterCrash(t *testing.T) {
	for _, last := range []lockstep.Tick{3, 4, 8} {
		g, log := testgame.RecordRace(t, last, 20, coordinator.Options{})
		all := decoded(t, log)
		frame := slices.IndexFunc(all, func(r record.Record) bool { return r.Kind == record.KindFrame && r.Tick == last })
		for cut := frame + 1; cut < len(log); cut++ {
			recovery := coordinator.NewRecovery(g)
			var d record.Decoder
			for _, b := range log[:cut] {
				r, _, err := d.Decode(b)
				if err == nil {
					err = recovery.Apply(r)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			var rest logOf
			c, err := recovery.Coordinator(&d, &rest, coordinator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(c.CheckAgain(), c.Conclude()); err != nil {
				t.Fatal(err)
			}
			if got, want := rest[len(rest)-1], log[len(log)-1]; !bytes.Equal(got, want) {
				t.Errorf("tick %d, %d records: got end %x, want %x", last, cut, got, want)
			}
			if f, err := c.Tick(); f != nil || !errors.Is(err, coordinator.ErrEnded) {
				t.Errorf("tick %d, %d records: got frame %v and %v after the end", last, cut, f, err)
			}
			decoded(t, slices.Concat(log[:cut], rest))
		}
	}
}

// logOf keeps the records of a log.
type logOf [][]byte

func (l *logOf) Append(b []byte) error {
	*l = append(*l, bytes.Clone(b))
	return nil
}

// Without a referee nobody decides, and the header says so.
func TestRelayGoesOn(t *testing.T) {
	_, log := testgame.RecordRace(t, 3, 20, coordinator.Options{Relay: true})
	all := decoded(t, log)
	if !all[0].Header.Settings.Relay {
		t.Error("the header does not say that there is no referee")
	}
	if got := all[len(all)-1]; got.Tick != 20 || got.Kind == record.KindEnd {
		t.Errorf("got a last record %d of tick %d, want tick 20 of a match that goes on", got.Kind, got.Tick)
	}
}

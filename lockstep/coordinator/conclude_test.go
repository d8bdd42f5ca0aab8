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

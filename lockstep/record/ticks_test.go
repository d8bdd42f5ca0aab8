package record_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep/record"
)

// fewRecords returns a frame at tick 4, a run of ticks 5 to 7, and records without ticks.
func fewRecords() []*record.Record {
	return []*record.Record{
		{Kind: record.KindKeyframe, Tick: 3},
		{Kind: record.KindFrame, Tick: 4, Frame: record.Frame{Tick: 4, Commands: make([]record.Command, 2)}},
		{Kind: record.KindEmpty, Tick: 7, Empty: 3},
		{Kind: record.KindChecksum, Tick: 6},
		{Kind: record.KindEmpty, Tick: record.MaxEmptyRun, Empty: record.MaxEmptyRun}, // from tick 1 on
		{Kind: record.KindEnd, Tick: 7},
	}
}

func TestFramesGiveEachTick(t *testing.T) {
	for i, want := range [][]record.Tick{{}, {4}, {5, 6, 7}, {}, nil, {}} {
		r := fewRecords()[i]
		if r.Kind.Advances() != (r.Ticks() > 0) {
			t.Errorf("kind %d: got Advances %v and %d ticks", r.Kind, r.Kind.Advances(), r.Ticks())
		}
		got := []record.Tick{}
		for f := range r.Frames() {
			if len(f.Commands) != len(r.Frame.Commands) {
				t.Errorf("tick %d: got %d commands, want %d", f.Tick, len(f.Commands), len(r.Frame.Commands))
			}
			got = append(got, f.Tick)
		}
		if want == nil { // the longest run
			if len(got) != record.MaxEmptyRun || got[0] != 1 || !slices.IsSorted(got) {
				t.Errorf("got %d ticks from %d on, want %d from 1 on", len(got), got[0], record.MaxEmptyRun)
			}
		} else if !slices.Equal(got, want) || int(r.Ticks()) != len(want) {
			t.Errorf("kind %d: got ticks %v of %d, want %v", r.Kind, got, r.Ticks(), want)
		}
	}
}

func TestFrameAfterGoesOnInsideARun(t *testing.T) {
	run := fewRecords()[2]
	for tick, want := range map[record.Tick]record.Tick{0: 5, 4: 5, 5: 6, 6: 7, 7: 0, 8: 0, record.MaxTick: 0} { // 0: none
		if f := run.FrameAfter(tick); (f != nil) != (want > 0) || f != nil && f.Tick != want {
			t.Errorf("after tick %d: got %+v, want tick %d", tick, f, want)
		}
	}
	for range run.Frames() {
		break // and the next walk is whole again
	}
	n := 0
	for range run.Frames() {
		n++
	}
	if n != 3 {
		t.Errorf("got %d ticks after a walk that stopped, want 3", n)
	}
}

func TestAllEndsWithTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	for _, end := range []error{io.EOF, broken, io.ErrUnexpectedEOF} {
		left := fewRecords()
		next := func() (*record.Record, error) {
			if len(left) == 0 {
				return nil, end
			}
			r := left[0]
			left = left[1:]
			return r, nil
		}
		n, last := 0, error(nil)
		for r, err := range record.All(next) {
			if last = err; err == nil && r != nil {
				n++
			}
		}
		if n != len(fewRecords()) || last != end && (last != nil || end != io.EOF) {
			t.Errorf("%v: got %d records and %v, want %d", end, n, last, len(fewRecords()))
		}
		left = fewRecords()
		for range record.All(next) {
			break
		}
		if len(left) != len(fewRecords())-1 {
			t.Errorf("%v: %d records are left after one, want %d", end, len(left), len(fewRecords())-1)
		}
	}
}

func TestWalkingALogAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a build without inlining allocates the iterators")
	}
	records, i, ticks := fewRecords(), 0, 0
	next := func() (*record.Record, error) {
		if i == len(records) {
			return nil, io.EOF
		}
		i++
		return records[i-1], nil
	}
	if n := testing.AllocsPerRun(10, func() {
		i = 0
		for r, err := range record.All(next) {
			if err != nil {
				t.Fatal(err)
			}
			for f := range r.Frames() {
				ticks += int(f.Tick) & 1
			}
		}
	}); n > 0 {
		t.Errorf("got %.1f allocations, want none", n)
	}
}

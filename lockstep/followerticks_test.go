package lockstep_test

import (
	"errors"
	"testing"

	"github.com/seed-49bee653/samestep/internal/nullgame"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
)

// A follower takes a run of empty ticks only if it is the next one, as it does with a frame.
func TestFollowerTakesOnlyTheNextTicks(t *testing.T) {
	g := nullgame.New()
	h, err := g.NewHeader(lockstep.MatchID{1}, lockstep.DefaultSettings(1), &nullgame.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		r     record.Record
		want  error
		ticks lockstep.Tick // of the follower afterwards
	}{
		{"the next run", record.Record{Kind: record.KindEmpty, Tick: 5, Empty: 3}, nil, 5},
		{"a run after a gap", record.Record{Kind: record.KindEmpty, Tick: 6, Empty: 3}, lockstep.ErrGap, 2},
		{"a run that begins too early", record.Record{Kind: record.KindEmpty, Tick: 4, Empty: 3}, lockstep.ErrGap, 2},
		{"the next frame", record.Record{Kind: record.KindFrame, Tick: 3}, nil, 3},
		{"a frame after a gap", record.Record{Kind: record.KindFrame, Tick: 4}, lockstep.ErrGap, 2},
	} {
		sim, err := g.NewSimulation(h)
		if err != nil {
			t.Fatal(err)
		}
		f := g.NewFollowerAt(h, sim, lockstep.FollowerOptions{})
		if err := f.Apply(&record.Record{Kind: record.KindEmpty, Tick: 2, Empty: 2}); err != nil {
			t.Fatal(err)
		}
		if err := f.Apply(&test.r); !errors.Is(err, test.want) || f.Tick() != test.ticks {
			t.Errorf("%s: got %v and tick %d, want %v and tick %d", test.name, err, f.Tick(), test.want, test.ticks)
		}
	}
}

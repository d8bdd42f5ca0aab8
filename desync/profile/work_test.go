package profile_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/desync/profile"
	"github.com/seed-49bee653/samestep/internal/testing/dots"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/replay"
)

// The game of these tests has workers, whose work takes time of the test's clock.
type (
	worker  struct{ Tools []uint32 }
	workday struct {
		Workers []worker
		Sum     uint64
	}
	hire struct{ Tools uint32 }
)

// A bench is a machine with a clock of its own. What the rules do on it in a tick is up to the test.
type bench struct {
	clock time.Duration
	odd   func(b *bench, w *workday, t *lockstep.Turn, phase string) // called at the end of each phase, or nil
	plain bool                                                       // the rules mark no phases
}

func (b *bench) now() time.Time { return time.Unix(0, 0).Add(b.clock) }

func (b *bench) rules() lockstep.Rules[workday, struct{}] {
	return lockstep.Rules[workday, struct{}]{
		Name: "work", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[hire](1, "hire")},
		New: func(w *workday, _ *lockstep.Settings, _ *struct{}) error { return nil },
		Step: func(w *workday, _ *struct{}, t *lockstep.Turn) {
			b.does(w, t, "", time.Microsecond)
			for _, c := range t.Commands {
				if h, ok := c.Value.(*hire); ok {
					w.Workers = append(w.Workers, worker{make([]uint32, h.Tools)})
				}
			}
			b.does(w, t, "hire", 2*time.Microsecond)
			w.Sum += uint64(len(w.Workers))
			b.does(w, t, "work", time.Duration(10+len(w.Workers))*time.Microsecond)
		},
	}
}

// does ends a part of the step.
func (b *bench) does(w *workday, t *lockstep.Turn, phase string, takes time.Duration) {
	if phase != "" && !b.plain {
		t.Phase(phase)
	}
	b.clock += takes
	if b.odd != nil {
		b.odd(b, w, t, phase)
	}
}

const workTicks = 40

// day returns the replay of a match of 40 ticks. In each second one a worker is hired, with three tools, and in tick 20 ten more.
func day(tb testing.TB) []byte { return dayOf(tb, workTicks) }

// dayOf returns the beginning of that match.
func dayOf(tb testing.TB, ticks int) []byte {
	tb.Helper()
	game := lockstep.MustGame((&bench{}).rules())
	settings := lockstep.DefaultSettings(1)
	settings.CheckEvery, settings.KeyframeEvery = 5, 10
	header, err := game.NewHeader(lockstep.MatchID{1}, settings, &struct{}{})
	if err != nil {
		tb.Fatal(err)
	}
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	match, err := coordinator.New(game, header, w, coordinator.Options{InputDelay: 1})
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.Flush(); err != nil { // so that the initial state can be all that a file has
		tb.Fatal(err)
	}
	match.Join(0)
	seq := lockstep.Sequence(0)
	for tick := 1; tick <= ticks; tick++ {
		n := 1 - tick%2
		if tick == 20 {
			n = 11
		}
		for range n {
			seq++
			kind, payload, err := game.NewPayloads().Encode(&hire{3})
			if err != nil {
				tb.Fatal(err)
			}
			if err := match.Submit(0, seq, kind, payload).Err(); err != nil {
				tb.Fatal(err)
			}
		}
		match.Tick()
	}
	dots.Finish(tb, match, w, "over")
	return file.Bytes()
}

func reader(tb testing.TB, file []byte) *replay.Reader {
	tb.Helper()
	r, err := replay.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// measured measures a file of the match on a bench.
func measured(tb testing.TB, b *bench, file []byte, o profile.Options) *profile.Profile {
	tb.Helper()
	o.Now = b.now
	p, err := profile.Measure(reader(tb, file), lockstep.MustGame(b.rules()), o)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

package replay_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// longFile is the replay of a match that claims a number of runs of empty ticks.
func longFile(t *testing.T, runs int) (*lockstep.Game, []byte) {
	t.Helper()
	g, h := newDots(t, lockstep.DefaultSettings(2))
	sim, err := g.NewSimulation(h)
	if err != nil {
		t.Fatal(err)
	}
	var enc record.Encoder
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	add := func(record []byte) {
		if err := w.Append(record); err != nil {
			t.Fatal(err)
		}
	}
	add(enc.Header(h))
	add(enc.Keyframe(0, sim.Hash(), nil, sim.AppendState(nil)))
	for range runs {
		add(enc.Empty(record.MaxEmptyRun))
	}
	add(enc.End("at last"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return g, file.Bytes()
}

// A small file that claims a thousand million ticks is rejected at once.
func TestTooLong(t *testing.T) {
	g, file := longFile(t, 1_000_000_000/record.MaxEmptyRun)
	began := time.Now()
	v, err := replay.Verify(open(t, file), g, replay.VerifyOptions{})
	if !errors.Is(err, replay.ErrLimit) || v.Ticks != 0 {
		t.Errorf("got %v after %d ticks, want ErrLimit", err, v.Ticks)
	}
	if err := replay.Rekey(replay.NewWriter(&bytes.Buffer{}, replay.WriterOptions{}), open(t, file), g, 100, replay.SimulateOptions{}); !errors.Is(err, replay.ErrLimit) {
		t.Errorf("rekeyed: got %v, want ErrLimit", err)
	}
	t.Logf("%d bytes: %v in %v", len(file), err, time.Since(began))

	g, file = longFile(t, 2)
	for max, want := range map[lockstep.Tick]error{2*record.MaxEmptyRun - 1: replay.ErrLimit, 2 * record.MaxEmptyRun: nil, 0: nil} {
		if _, err := replay.Verify(open(t, file), g, replay.VerifyOptions{MaxTicks: max}); !errors.Is(err, want) {
			t.Errorf("at most %d ticks: got %v, want %v", max, err, want)
		}
	}
}

// A replay of rules that differ in one detail is rejected, and the error names it.
func TestOtherGame(t *testing.T) {
	_, file, _ := recordMatch(t, 40, replay.WriterOptions{})
	same := dotsRules()
	name, build, kind, named := same, same, same, same
	name.Name = "lines"
	build.Build = "2"
	kind.Commands = []lockstep.CommandType{lockstep.Type[walk](2, "walk")}
	named.Commands = []lockstep.CommandType{lockstep.Type[walk](1, "run")}
	more := same
	more.Commands = append(more.Commands[:1:1], lockstep.Type[walk](2, "run"))
	type longWalk struct {
		Dot  uint8
		X, Y int16
	}
	payload := same
	payload.Commands = []lockstep.CommandType{lockstep.Type[longWalk](1, "walk")}
	for _, c := range []struct {
		name  string
		game  *lockstep.Game
		field string
	}{
		{"name", lockstep.MustGame(name), "game"},
		{"build", lockstep.MustGame(build), "build"},
		{"kind of a command", lockstep.MustGame(kind), "command"},
		{"name of a command", lockstep.MustGame(named), "command"},
		{"one more command", lockstep.MustGame(more), "number of command kinds"},
		{"field of a command", lockstep.MustGame(payload), "schema of command walk, field X"},
		{"name of a field", otherState[struct {
			Rand fixed.Rand
			Dots []struct{ Pos, Pace fixed.Vec2 }
		}](), "state schema, field Dots[].Pace"},
		{"type of a field", otherState[struct {
			Rand fixed.Rand
			Dots []struct {
				Pos  fixed.Vec2
				Step int64
			}
		}](), "state schema, field Dots[].Step"},
		{"length of a list", otherState[struct {
			Rand fixed.Rand
			Dots [4]dot
		}](), "state schema, field Dots"},
		{"one more field", otherState[struct {
			Rand fixed.Rand
			Dots []dot
			More bool
		}](), "state schema, field More"},
		{"one field less", otherState[struct{ Rand fixed.Rand }](), "state schema, field Dots"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := replay.Verify(open(t, file), c.game, replay.VerifyOptions{})
			var identity *lockstep.IdentityError
			if !errors.As(err, &identity) || identity.Field != c.field || v.Ticks != 0 {
				t.Errorf("got %v after %d ticks, want other %s", err, v.Ticks, c.field)
			}
		})
	}
}

// otherState is the game dots with another state and no rules.
func otherState[S any]() *lockstep.Game {
	return lockstep.MustGame(lockstep.Rules[S, dotsConfig]{
		Name: "dots", Build: "1", Commands: dotsRules().Commands,
		New:  func(*S, *lockstep.Settings, *dotsConfig) error { return nil },
		Step: func(*S, *dotsConfig, *lockstep.Turn) {},
	})
}

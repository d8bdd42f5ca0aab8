package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/record"
	"github.com/seed-49bee653/samestep/replay"
)

// fragile returns the game with rules that panic on a walk of a length.
func fragile(on int8) *lockstep.Game {
	r := dotsRules()
	step := r.Step
	r.Step = func(w *dots, c *dotsConfig, t *lockstep.Turn) {
		for i := range t.Commands {
			if m, ok := t.Commands[i].Value.(*walk); ok && m.X == on {
				panic(fmt.Sprintf("a walk of %d", on))
			}
		}
		step(w, c, t)
	}
	return lockstep.MustGame(r)
}

// panicked returns a replay of a match of 120 ticks on which the rules panicked at tick 121, because of a walk of 99.
func panicked(t *testing.T) []byte {
	t.Helper()
	g, file, _ := recordMatch(t, 120, replay.WriterOptions{})
	kind, payload, err := g.NewPayloads().Encode(&walk{X: 99})
	if err != nil {
		t.Fatal(err)
	}
	last := uint32(0)
	return copyRecords(t, file, func(r *record.Record, emit func(*record.Record) error) error {
		for i := range r.Frame.Commands {
			if c := &r.Frame.Commands[i]; c.Player == 1 {
				last = uint32(c.Sequence)
			}
		}
		if r.Kind == record.KindEnd {
			frame := record.Frame{Tick: r.Tick + 1, Commands: []record.Command{{Tick: r.Tick + 1, Player: 1, Sequence: record.Sequence(last) + 1, Kind: kind, Payload: payload}}}
			if err := emit(&record.Record{Kind: record.KindPanic, Panic: &record.Panic{Where: record.InStep, Text: "a walk of 99", Stack: "goroutine 1", Frame: frame}}); err != nil {
				return err
			}
		}
		return emit(r)
	})
}

// A file with a panic is never true: the rules panic in it again, or they do not, and the verification says which. The class of both is
// that of a panic, however many workers there are.
func TestVerifyPanic(t *testing.T) {
	t.Parallel()
	file := panicked(t)
	for name, c := range map[string]struct {
		game *lockstep.Game
		want string
	}{
		"the same rules": {fragile(99), "tick 121: the rules panicked in Step: a walk of 99; computed again here, they panic in the same way"},
		"mended rules":   {lockstep.MustGame(dotsRules()), "tick 121: the rules panicked in Step: a walk of 99; computed again here, they do not panic"},
	} {
		for _, workers := range []int{1, 3} {
			v, err := replay.Verify(open(t, file), c.game, replay.VerifyOptions{Workers: workers})
			if fmt.Sprint(err) != c.want || replay.ClassOf(err) != replay.ClassPanic {
				t.Errorf("%s, %d workers: got %v of class %q, want %s", name, workers, err, replay.ClassOf(err), c.want)
			}
			if !v.Ended || v.Ticks != 120 || v.Differed > 0 || v.Checked < 12 || v.Panic == nil || v.Panic.Commands != 1 || !v.Panic.Recorded {
				t.Errorf("%s, %d workers: got %+v", name, workers, v)
			}
		}
	}

	// A tick of the log in which only our rules panic.
	g, file, _ := recordMatch(t, 120, replay.WriterOptions{})
	if v, err := replay.Verify(open(t, file), g, replay.VerifyOptions{}); err != nil || v.Panic != nil {
		t.Errorf("without a panic: got %v, %v", v.Panic, err)
	}
	var first *walk
	copyRecords(t, file, func(r *record.Record, _ func(*record.Record) error) error {
		for i := range r.Frame.Commands {
			if c := r.Frame.Commands[i]; c.Player != lockstep.System && first == nil {
				if err := g.NewPayloads().Decode(&c); err != nil {
					return err
				}
				first = c.Value.(*walk)
			}
		}
		return nil
	})
	v, err := replay.Verify(open(t, file), fragile(first.X), replay.VerifyOptions{})
	if !errors.As(err, new(*lockstep.PanicError)) || replay.ClassOf(err) != replay.ClassPanic || v.Panic == nil || v.Panic.Recorded || !v.Panic.Again {
		t.Errorf("got %v of class %q, and %+v", err, replay.ClassOf(err), v.Panic)
	}
}

// A Cursor goes on with the frame of a panic only if it is asked to, and only at the end.
func TestCursorTakesPanic(t *testing.T) {
	t.Parallel()
	file := panicked(t)
	for _, takes := range []bool{false, true} {
		c, err := replay.NewCursor(open(t, file), fragile(99), 100)
		if err != nil {
			t.Fatal(err)
		}
		if takes {
			c.TakePanic()
		}
		for err == nil {
			err = c.Step()
		}
		if got := errors.As(err, new(*lockstep.PanicError)); got != takes || c.Tick() != 120 {
			t.Errorf("takes %t: got %v after tick %d", takes, err, c.Tick())
		}
	}
}

// A reader who asks for the state of the tick of a panic is told of it.
func TestTickOfPanicHasNoState(t *testing.T) {
	t.Parallel()
	for tick, want := range map[lockstep.Tick]bool{121: true, 122: false} {
		_, err := replay.StateAt(open(t, panicked(t)), fragile(99), tick, replay.SimulateOptions{})
		var missing *replay.TickError
		if !errors.As(err, &missing) || strings.Contains(err.Error(), "the rules panicked in Step of tick 121") != want {
			t.Errorf("tick %d: got %v", tick, err)
		}
	}
}

// The records of a file with a panic are copied, sealed and described, and its content hash is that of the file without it.
func TestPanicInFile(t *testing.T) {
	t.Parallel()
	_, plain, _ := recordMatch(t, 120, replay.WriterOptions{})
	want, err := replay.ReadInfo(open(t, plain))
	if err != nil || want.Panic != nil {
		t.Fatal(want.Panic, err)
	}
	got, err := replay.ReadInfo(open(t, panicked(t)))
	if err != nil || got.Panic == nil || got.Panic.Error() != "tick 121: the rules panicked in Step: a walk of 99" || got.ContentHash != want.ContentHash || got.Ticks != want.Ticks || got.Commands != want.Commands {
		t.Errorf("got %v, %v, content %v of %d ticks, want content %v of %d", got.Panic, err, got.ContentHash, got.Ticks, want.ContentHash, want.Ticks)
	}
}

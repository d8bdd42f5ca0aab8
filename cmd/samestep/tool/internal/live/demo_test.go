//go:build !js

package live

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/desync"
	"github.com/seed-49bee653/samestep/internal/testing/faultinjection"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

type (
	// A board is wiped by a command: it takes with it what was changed before.
	board struct {
		Tick  uint32
		Marks []mark
	}
	mark struct{ ID, Size uint32 }
	wipe struct{ Marks uint8 }
)

// boardGame is a game without bots, whose random commands wipe the board, which never is for most fields.
func boardGame(t *testing.T, wiped func(*lockstep.Turn) bool) *gameset.Playable {
	g, err := gameset.New(lockstep.Rules[board, struct{}]{
		Name: "board", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[wipe](1, "wipe")},
		New: func(*board, *lockstep.Settings, *struct{}) error { return nil },
		Step: func(w *board, _ *struct{}, t *lockstep.Turn) {
			w.Tick = uint32(t.Tick)
			if len(w.Marks) == 0 || wiped(t) {
				w.Marks = nil
				for i := range uint32(4) {
					w.Marks = append(w.Marks, mark{ID: i + 1, Size: 100 * (w.Tick%7 + i)})
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func playDemo(t *testing.T, g *gameset.Playable, seed uint64) (*demoStory, error) {
	t.Helper()
	o := demoOptions{Program: "samestep", Game: g, Tick: 50_000, Length: 160, Players: 2, Seed: seed, Dir: t.TempDir()}
	return runDemo(o, console.NewProgress(io.Discard, int64(o.Length), "ticks"))
}

// The planted error is noticed at the next check, though a random command may remove it before. Where every command does so,
// the demo says it.
func TestDemoPlantsWhatLasts(t *testing.T) {
	byChance := func(t *lockstep.Turn) bool {
		for i := range t.Commands {
			if w, ok := t.Commands[i].Value.(*wipe); ok && w.Marks > 100 {
				return true
			}
		}
		return false
	}
	for seed := range uint64(8) {
		s, err := playDemo(t, boardGame(t, byChance), seed)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Failures) > 0 || s.Desync.First != s.Planted.Tick || s.Desync.Tick-s.Planted.Tick >= 20 || s.Desync.Path == "" {
			t.Errorf("seed %d: planted %+v, found %+v, failures %q", seed, s.Planted, s.Desync, s.Failures)
		}
	}
	if _, err := playDemo(t, boardGame(t, func(t *lockstep.Turn) bool { return t.Tick%5 == 0 }), 1); !errors.Is(err, faultinjection.ErrNothingLasts) {
		t.Errorf("no field lasts: got %v", err)
	}
}

// A bundle of rules without a fixed result accuses nobody: the demo says so, with what to run, and exits with 3.
func TestDemoWithoutFixedResult(t *testing.T) {
	armed, kept := false, 0 // not in the state
	s, err := playDemo(t, boardGame(t, func(*lockstep.Turn) bool { kept++; return armed && kept%3 == 0 }), 1)
	if err != nil || s.Failure() != nil {
		t.Fatal(err, s.Failure())
	}
	armed = true
	if err := s.Explain(); err != nil {
		t.Fatal(err)
	}
	err = s.Failure()
	if want := "the rules have no fixed result; try: samestep fuzz, and samestep vet"; err == nil || !strings.Contains(err.Error(), want) || console.ExitCode(err) != console.ExitDesync {
		t.Errorf("got %v, exit code %d, want %q of %q", err, console.ExitCode(err), want, s.Failures)
	}
}

// A demo of rules that panic, or that have no fixed result, keeps the replay, and of a panic the bundle, and says what to run.
func TestDemoKeepsEvidence(t *testing.T) {
	kept := 0 // not in the state
	for name, c := range map[string]struct {
		wiped func(*lockstep.Turn) bool
		want  []string
		files int
	}{
		"a panic": {func(t *lockstep.Turn) bool {
			if t.Tick == 60 {
				panic("oh")
			}
			return false
		}, []string{"tick 60: the game panicked in Step: oh", "samestep desync explain ", "board-panic-60-server.zip"}, 2},
		"another result on each copy": {func(t *lockstep.Turn) bool { kept++; return t.Tick > 30 && kept%3 == 0 }, []string{"player ", "no fixed result", "samestep fuzz"}, 1},
	} {
		g := boardGame(t, c.wiped)
		o := demoOptions{Program: "samestep", Game: g, Tick: 50_000, Length: 160, Players: 2, Seed: 1, Dir: t.TempDir()}
		_, err := runDemo(o, console.NewProgress(io.Discard, int64(o.Length), "ticks"))
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "log failed") {
				t.Errorf("%s: got %v, want %q in it", name, err, want)
			}
		}
		if code := console.ExitCode(err); code != map[int]int{2: console.ExitPanic, 1: console.ExitDesync}[c.files] {
			t.Errorf("%s: got exit code %d", name, code)
		}
		left, err := os.ReadDir(o.Dir)
		if err != nil || len(left) != c.files {
			t.Errorf("%s: got the files %v, %v, want %d", name, left, err, c.files)
		}
		if c.files < 2 {
			continue
		}
		f, err := replay.Open(filepath.Join(o.Dir, left[0].Name()))
		if err != nil {
			t.Fatal(err)
		}
		if e, err := desync.Explain(f.Bundle(), desync.Options{Game: replay.Games{g.Game}.Of}); err != nil || !e.Panic.Again {
			t.Errorf("%s: the bundle is explained with %v", name, err)
		}
		f.Close()
	}
}

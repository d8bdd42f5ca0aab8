//go:build !js && !wasip1

package tool

import (
	"errors"
	"io"
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
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
func boardGame(wiped func(*lockstep.Turn) bool) Game {
	return New(lockstep.Rules[board, struct{}]{
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
}

func playDemo(t *testing.T, g Game, seed uint64) (*demoStory, error) {
	t.Helper()
	o := demoOptions{program: "samestep", game: g.game, rate: demoTickRate, length: 8 * demoTickRate, players: 2, seed: seed, dir: t.TempDir()}
	return runDemo(o, newProgress(io.Discard, int64(o.length), "ticks"))
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
		s, err := playDemo(t, boardGame(byChance), seed)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Failures) > 0 || s.Desync.First != s.Planted.Tick || s.Desync.Tick-s.Planted.Tick >= 20 || s.Desync.Path == "" {
			t.Errorf("seed %d: planted %+v, found %+v, failures %q", seed, s.Planted, s.Desync, s.Failures)
		}
	}
	if _, err := playDemo(t, boardGame(func(t *lockstep.Turn) bool { return t.Tick%5 == 0 }), 1); !errors.Is(err, errNothingLasts) {
		t.Errorf("no field lasts: got %v", err)
	}
}

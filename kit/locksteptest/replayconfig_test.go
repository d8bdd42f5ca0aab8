package locksteptest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

type (
	terrain struct{ Walked uint32 }
	heights struct{ Cells []uint32 }
	walk    struct{ Steps uint8 }
)

// terrainGame is a game with a large configuration. Its rules differ between machines.
func terrainGame() *lockstep.Game {
	runs := uint32(0)
	return lockstep.MustGame(lockstep.Rules[terrain, heights]{
		Name: "terrain", Build: "1", Commands: []lockstep.CommandType{lockstep.Type[walk](1, "walk")},
		New: func(*terrain, *lockstep.Settings, *heights) error { runs++; return nil },
		Step: func(w *terrain, h *heights, turn *lockstep.Turn) {
			w.Walked += uint32(len(turn.Commands)) * (h.Cells[0] + runs)
		},
	})
}

// A written test reads a large configuration from the replay beside it.
func TestReplayConfig(t *testing.T) {
	config := &heights{Cells: slices.Repeat([]uint32{70, 1234567}, 300)}
	failure := (*locksteptest.Failure)(nil)
	if _, err := locksteptest.Run(terrainGame(), locksteptest.Options{Config: config}); !errors.As(err, &failure) {
		t.Fatalf("got %v, want a failure", err)
	}
	var text strings.Builder
	source := locksteptest.Source{
		Package: "locksteptest_test", Path: "github.com/seed-49bee653/samestep/kit/locksteptest", Game: "terrainGame()", Replay: "found.ssr",
	}
	if err := failure.WriteTest(&text, source); err != nil || !strings.Contains(text.String(), `ReplayConfig(t, terrainGame(), "found.ssr"),`) || strings.Contains(text.String(), "1234567") {
		t.Errorf("got %v and %s", err, text.String())
	}
	text.Reset()
	source.Replay = ""
	if err := failure.WriteTest(&text, source); err != nil || !strings.Contains(text.String(), "1234567") {
		t.Errorf("without a replay: got %v and %s", err, text.String())
	}
	name := filepath.Join(t.TempDir(), "found.ssr")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(failure.WriteReplay(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	if got, ok := locksteptest.ReplayConfig(t, terrainGame(), name).(*heights); !ok || !slices.Equal(got.Cells, config.Cells) {
		t.Errorf("got %v, want the configuration of the match", got)
	}
	for want, g := range map[string]*lockstep.Game{"found.ssrx: open ": terrainGame(), `got a match of game "terrain", want "minimal"`: lockstep.MustGame(minimal.Rules())} {
		r := &recorder{}
		func() {
			defer func() { _ = recover() }()
			if strings.HasPrefix(want, "found.ssrx") {
				locksteptest.ReplayConfig(r, g, name+"x")
			}
			locksteptest.ReplayConfig(r, g, name)
		}()
		if !strings.Contains(r.text, want) {
			t.Errorf("got %q, want %q", r.text, want)
		}
	}
}

// A test that fuzz has written reads its configuration from the replay beside it.
func ExampleReplayConfig() {
	t := &recorder{} // a *testing.T
	defer func() {
		_ = recover()
		fmt.Println(strings.Contains(t.text, "locksteptest: testdata/found.ssr: "))
		// Output: true
	}()
	locksteptest.Check(t, terrainGame(), locksteptest.Options{
		Config: locksteptest.ReplayConfig(t, terrainGame(), "testdata/found.ssr"),
	})
}

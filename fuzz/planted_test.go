//go:build !js && !wasip1

package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/examples/skirmish"
	"github.com/seed-49bee653/samestep/internal/testing/planted"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// Random matches find each planted fault, and shrinking leaves a handful of commands. The written replay and Go test
// reproduce the same fault.
func TestPlanted(t *testing.T) {
	config := skirmish.Defaults(2, 24)
	config.Size, config.Obstacles = skirmish.MinSize, 0 // the faults need no rocks, which take most of the time
	var tests []string
	for i, want := range []struct{ phases, field string }{
		{"panic", ""}, {"follower", "Players"}, {"two runs", "Players"}, {"cold twin", "Players"}, {"validate", "Players"},
	} {
		if !testenv.ByNight(t) && i >= 2 {
			break
		}
		fault := planted.Faults[i]
		game := lockstep.MustGame(planted.Rules(fault))
		found, reached, err := locksteptest.Search(t.Context(), game, locksteptest.Options{Config: &config, Players: 2, Ticks: 100, AllowThin: randomOrders},
			locksteptest.SearchOptions{Matches: 50})
		if found == nil {
			t.Errorf("%s: nothing was found: %v: %v", fault, reached, err)
			continue
		}
		small := found.Shrink(locksteptest.ShrinkOptions{})
		section, _, _ := strings.Cut(small.Field, "[")
		if !strings.Contains(want.phases, small.Phase) || section != want.field {
			t.Errorf("%s: got %v, want phase %s and section %q", fault, small, want.phases, want.field)
		}
		if n := len(small.Options.Orders); n > 3 || small.Options.Ticks > 4 {
			t.Errorf("%s: got %d commands in %d ticks, want at most 3 in 4", fault, n, small.Options.Ticks)
		}
		checkReplay(t, game, small)
		var source bytes.Buffer
		if err := small.WriteTest(&source, locksteptest.Source{
			Package: "planted_test", Path: "github.com/seed-49bee653/samestep/internal/testing/planted",
			Game: fmt.Sprintf("lockstep.MustGame(planted.Rules(%q))", fault), Imports: []string{"github.com/seed-49bee653/samestep/internal/testing/planted"},
		}); err != nil {
			t.Fatal(err)
		}
		tests = append(tests, source.String())
		t.Logf("%s: %d matches, then %d commands", fault, reached.Matches, len(small.Options.Orders))
	}
	if !testenv.Small(t) {
		runWritten(t, tests)
	}
}

// checkReplay checks that the replay of a failure has its match.
func checkReplay(t *testing.T, game *lockstep.Game, f *locksteptest.Failure) {
	t.Helper()
	var file bytes.Buffer
	if err := f.WriteReplay(&file); err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	v, err := replay.Verify(r, game, replay.VerifyOptions{KeepGoing: true})
	panicked := (*replay.Panic)(nil)
	if desync := (*lockstep.DesyncError)(nil); err != nil && !errors.As(err, &desync) && !errors.As(err, &panicked) {
		t.Errorf("the replay: %v", err)
	}
	if v.Ticks+1 < f.Options.Ticks {
		t.Errorf("the replay has %d ticks, want %d", v.Ticks, f.Options.Ticks)
	}
}

// runWritten compiles the written Go tests and checks that they fail as their comments say.
func runWritten(t *testing.T, tests []string) {
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for i, source := range tests {
		name := fmt.Sprintf("found%d_test.go", i)
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, "internal", "testing", "planted", name)] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(path, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-vet=off", "-overlay", path, "-run", "^TestFound", "./internal/testing/planted")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "SAMESTEP_LINE=off") // an overlay has no sources to look into
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--- FAIL: TestFound") {
		t.Fatalf("the written tests did not fail: %v\n%s", err, out)
	}
	for _, source := range tests {
		_, rest, _ := strings.Cut(source, "// Found by playing random matches: ")
		rest, _, _ = strings.Cut(rest, "\n")
		want, _, _ := strings.Cut(rest, ": got ") // values are random
		if !strings.Contains(strings.Join(strings.Fields(string(out)), " "), want) {
			t.Errorf("no written test failed with %q:\n%s", want, out)
		}
	}
}

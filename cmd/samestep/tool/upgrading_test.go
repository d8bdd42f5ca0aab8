//go:build !js

package tool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/fixed"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/local"
	"github.com/seed-49bee653/samestep/replay"
)

// newerRules returns the rules of another build of minimal, in which dots are faster.
func newerRules(build string) lockstep.Rules[minimal.World, minimal.Config] {
	rules := minimal.Rules()
	step := rules.Step
	rules.Build = build
	rules.Step = func(w *minimal.World, config *minimal.Config, t *lockstep.Turn) {
		step(w, config, t)
		for i := range w.Dots {
			w.Dots[i].At.X++
		}
	}
	return rules
}

// armored is the state of minimal with one more field in each dot.
type armored struct {
	Rand fixed.Rand
	Dots []struct {
		At, To fixed.Vec2
		Coins  uint32
		Armor  uint16
	}
	Coins []fixed.Vec2
}

func armoredRules() lockstep.Rules[armored, minimal.Config] {
	old := minimal.Rules()
	return lockstep.Rules[armored, minimal.Config]{
		Name: old.Name, Build: old.Build, Commands: old.Commands,
		New:  func(*armored, *lockstep.Settings, *minimal.Config) error { return nil },
		Step: func(*armored, *minimal.Config, *lockstep.Turn) {},
	}
}

// oldReplay writes the replay of a match with the present build of minimal.
func oldReplay(t *testing.T) string {
	t.Helper()
	var file bytes.Buffer
	w := replay.NewWriter(&file, replay.WriterOptions{})
	m, err := local.New(lockstep.MustGame(minimal.Rules()), &minimal.Config{Size: 20, Coins: 9}, local.Options{
		Bots: []lockstep.Bot{minimal.NewBot(0, 1), minimal.NewBot(1, 2)}, Log: w,
	})
	if err != nil {
		t.Fatal(err)
	}
	now := lockstep.Time(0)
	for ; now < 4*lockstep.Second; now += 50 * lockstep.Millisecond {
		if err := m.Advance(now); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(m.Host().Admin().End(now, "enough"), m.Advance(now), w.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old.ssr")
	if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// docs/upgrading.md shows the messages that are seen.
func TestUpgrading(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../../docs/upgrading.md")
	if err != nil {
		t.Fatal(err)
	}
	page, path := string(b), oldReplay(t)
	for _, x := range []struct {
		name string
		game Game
		code int
	}{
		{"another build", New(newerRules("2")), console.ExitIdentity},
		{"another field", New(armoredRules()), console.ExitIdentity},
		{"a forgotten build", New(newerRules("1")), console.ExitDesync},
	} {
		var out, errs bytes.Buffer
		code := Run(t.Context(), []string{"mygame", "replay", "verify", path}, &out, &errs, x.game)
		if code != x.code {
			t.Errorf("%s: got exit code %d, want %d: %s", x.name, code, x.code, &errs)
		}
		for line := range strings.Lines(strings.ReplaceAll(errs.String(), path, "old.ssr")) {
			if !strings.Contains(page, strings.TrimSpace(line)) {
				t.Errorf("%s: docs/upgrading.md lacks %q", x.name, line)
			}
		}
	}
}

// A program with two builds of a game verifies the replays of both. It plays with the first.
func TestTwoBuilds(t *testing.T) {
	path := oldReplay(t)
	both := []Game{New(newerRules("2")), New(minimal.Rules())}
	var out, errs bytes.Buffer
	if code := Run(t.Context(), []string{"mygame", "replay", "verify", path}, &out, &errs, both...); code != console.ExitOK {
		t.Errorf("got exit code %d: %s%s", code, &out, &errs)
	}
	list, err := listOf(both)
	if err != nil {
		t.Fatal(err)
	}
	if g, err := list.Named("minimal"); err != nil || g.Build() != "2" || list.Names() != "minimal" {
		t.Errorf("got build %v of games %q, error %v, want the first build", g, list.Names(), err)
	}
	if _, err := listOf([]Game{New(minimal.Rules()), New(minimal.Rules())}); fmt.Sprint(err) != `tool.Main has game "minimal", build "1", twice` {
		t.Errorf("one build twice: got error %v", err)
	}
}

// An engineEdit is a row of the table in docs/upgrading.md.
type engineEdit struct{ was, write string }

// A game that was written for an older engine follows this one by the table of docs/upgrading.md. It has the same states as the game of
// this repository, as its golden match shows. Each row is needed.
func TestEngineUpgrade(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	page, err := os.ReadFile("../../../docs/upgrading.md")
	if err != nil {
		t.Fatal(err)
	}
	var edits []engineEdit
	for _, m := range regexp.MustCompile("(?m)^\\| 20[-0-9]+ \\| `([^`]+)` \\| `([^`]+)`").FindAllStringSubmatch(string(page), -1) {
		edits = append(edits, engineEdit{m[1], m[2]})
	}
	if len(edits) < 10 {
		t.Fatalf("the table has %d edits, want at least 10", len(edits))
	}
	f := newForeign(t) // for its go.mod and go.sum
	golden, err := filepath.Abs("../../../examples/minimal/testdata/golden/minimal-1.ssr")
	if err != nil {
		t.Fatal(err)
	}
	f.edited(edits)
	if out, err := f.goOld("vet", "./..."); err != nil {
		t.Fatalf("after all edits: %v: %s", err, out)
	}
	if out, err := f.goOld("test", "./old"); err != nil {
		t.Errorf("after all edits: %v: %s", err, out)
	}
	f.build()
	f.run(console.ExitOK, "replay verify "+golden, "201 equal, 0 differ")
	for i, left := range edits {
		f.edited(slices.Delete(slices.Clone(edits), i, i+1))
		if out, err := f.goOld("vet", "./old/..."); err == nil {
			t.Errorf("without the row of %s the old game compiles, too: %s", left.was, out)
		}
	}
}

// edited writes the old game with some edits into the module, and a program for it.
func (f *foreign) edited(edits []engineEdit) {
	f.t.Helper()
	const old = "testdata/upgrading/old"
	for _, name := range []string{"minimal.go", "check_test.go", "online/main.go", "online/window.go"} {
		b, err := os.ReadFile(filepath.Join(old, filepath.FromSlash(name)+".txt"))
		if err != nil {
			f.t.Fatal(err)
		}
		text := strings.ReplaceAll(string(b), console.Module+"/examples/minimal", "example.com/hold/old")
		for _, e := range edits {
			text = strings.ReplaceAll(text, e.was, e.write)
		}
		path := filepath.Join(f.dir, "old", filepath.FromSlash(name))
		if err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			f.t.Fatal(err)
		}
	}
	program := fmt.Sprintf("package main\n\nimport (\n\"example.com/hold/old\"\n%q\n)\n\nfunc main() { tool.Main(tool.New(minimal.Rules())) }\n", console.Module+"/cmd/samestep/tool")
	if err := os.WriteFile(filepath.Join(f.dir, "main.go"), []byte(program), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *foreign) goOld(args ...string) ([]byte, error) {
	c := exec.CommandContext(f.t.Context(), "go", args...)
	c.Dir = f.dir
	return c.CombinedOutput()
}

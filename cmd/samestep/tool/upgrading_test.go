//go:build !js

package tool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/fixed"
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

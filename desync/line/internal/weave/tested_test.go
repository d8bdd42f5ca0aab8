package weave

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// testedFiles are a game whose tests change its rules: one test is in the package, one is outside of it and uses a package that
// imports the rules, so that the go command builds a second variant of it.
func testedFiles() map[string]string {
	return map[string]string{
		"rules/rules.go": `package rules

import "github.com/seed-49bee653/samestep/lockstep"

type World struct{ Tick, More uint32 }

type Config struct{}

func Variant(more uint32) lockstep.Rules[World, Config] {
	return lockstep.Rules[World, Config]{
		Name: "hold", Build: "1",
		New:  func(*World, *lockstep.Settings, *Config) error { return nil },
		Step: func(w *World, _ *Config, t *lockstep.Turn) { w.Tick = uint32(t.Tick); w.add(more) },
	}
}

func (w *World) add(more uint32) { w.More += more }

func unused(w *World) { w.More = 0 }
`,
		"bots/bots.go": `package bots

import "example.com/hold/rules"

func Help(w *rules.World) { w.More *= 2 }
`,
		"rules/inner_test.go": `package rules

import (
	"testing"

	"github.com/seed-49bee653/samestep/lockstep"
)

func TestInner(t *testing.T) {
	r := Variant(2)
	r.Step = func(w *World, _ *Config, _ *lockstep.Turn) { w.add(3) }
	lockstep.MustGame(r)
}
`,
		"rules/outer_test.go": `package rules_test

import (
	"testing"

	"example.com/hold/bots"
	"example.com/hold/rules"
	"github.com/seed-49bee653/samestep/lockstep"
)

func TestOuter(t *testing.T) {
	r := rules.Variant(2)
	step := r.Step
	r.Step = func(w *rules.World, c *rules.Config, t *lockstep.Turn) {
		step(w, c, t)
		bots.Help(w)
	}
	lockstep.MustGame(r)
}
`,
		"other/other.go": "package other\n",
	}
}

// Tests that make or change rules are woven with all that these reach, in all packages, and compile.
func TestOfATest(t *testing.T) {
	testenv.Long(t)
	dir := fixture(t, testedFiles())
	s, err := Read(Options{Dir: filepath.Join(dir, "rules"), Test: true})
	if err != nil {
		t.Fatal(err)
	}
	woven := t.TempDir()
	p, err := s.Write(woven)
	if err != nil {
		t.Fatal(err)
	}
	var funcs []string
	for _, site := range s.Sites {
		if site.Kind == Write {
			funcs = append(funcs, site.Func[strings.LastIndex(site.Func, "/")+1:])
		}
	}
	slices.Sort(funcs)
	if want := []string{"bots.Help", "rules.(*World).add", "rules.TestInner", "rules.Variant.func2", "rules_test.TestOuter"}; !slices.Equal(funcs, want) {
		t.Errorf("got assignments in %q, want %q", funcs, want)
	}
	var names []string
	for _, f := range s.files {
		names = append(names, filepath.Base(f))
	}
	slices.Sort(names)
	if want := []string{"bots.go", "inner_test.go", "outer_test.go", "rules.go"}; !slices.Equal(names, want) {
		t.Errorf("got woven files %q, want %q", names, want)
	}
	c := exec.Command("go", "test", "-vet=off", "-overlay", p.Overlay, p.Package)
	c.Dir = p.Dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := Read(Options{Dir: filepath.Join(dir, "other"), Test: true}); !errors.Is(err, ErrSource) {
		t.Errorf("a package without rules: got %v", err)
	}
}

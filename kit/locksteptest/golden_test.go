package locksteptest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// slowRace is a race whose steps are one less.
func slowRace() lockstep.Rules[race, struct{}] {
	rules := raceRules(false)
	fast := rules.Step
	rules.Step = func(w *race, c *struct{}, turn *lockstep.Turn) {
		fast(w, c, turn)
		w.At[0] -= min(w.At[0], 1)
	}
	return rules
}

// A golden match of a build is added once. It fails when the rules change and Build does not.
func TestGolden(t *testing.T) {
	o := locksteptest.GoldenOptions{Dir: filepath.Join(t.TempDir(), "golden"), Weights: map[string]int{"give up": 0}}
	g := lockstep.MustGame(raceRules(false))
	if _, err := locksteptest.CheckGolden(g, o); !errors.Is(err, locksteptest.ErrNoGolden) || !strings.Contains(err.Error(), `build "1" of race in `) {
		t.Errorf("before: got %v", err)
	}
	added, err := locksteptest.AddGolden(g, o)
	if err != nil || len(added.Files) != 1 || filepath.Base(added.Files[0]) != "race-1.ssr" {
		t.Fatalf("added: got %+v, %v", added, err)
	}
	names := added.Files
	before, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, rules := range map[string]lockstep.Rules[race, struct{}]{"another result": slowRace(), "a panic": func() lockstep.Rules[race, struct{}] {
		rules := raceRules(false)
		rules.Step = func(*race, *struct{}, *lockstep.Turn) { panic("no") }
		return rules
	}(), "a command less": func() lockstep.Rules[race, struct{}] {
		rules := raceRules(false)
		rules.Commands = rules.Commands[:1]
		return rules
	}()} {
		changed := lockstep.MustGame(rules)
		for _, check := range []func(*lockstep.Game, locksteptest.GoldenOptions) (locksteptest.GoldenResult, error){locksteptest.CheckGolden, locksteptest.AddGolden} {
			if _, err := check(changed, o); !errors.Is(err, locksteptest.ErrGoldenChanged) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
	if after, err := os.ReadFile(names[0]); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed: %v", err)
	}
	rules := slowRace()
	rules.Build = "2/b"
	if added, err = locksteptest.AddGolden(lockstep.MustGame(rules), o); err != nil || len(added.Files) != 1 || filepath.Base(added.Files[0]) != "race-2_b.ssr" {
		t.Errorf("a new build: got %+v, %v", added, err)
	}
	if added, err = locksteptest.AddGolden(g, o); err != nil || len(added.Files) != 1 {
		t.Errorf("the old build: got %+v, %v", added, err)
	}
	rules.Build = "2:b"
	if _, err := locksteptest.AddGolden(lockstep.MustGame(rules), o); err == nil || !strings.Contains(err.Error(), "race-2_b.ssr already exists, for another build") {
		t.Errorf("two builds with one name of a file: got %v", err)
	}
	rules.Build = "3"
	if _, err := locksteptest.AddGolden(lockstep.MustGame(rules), locksteptest.GoldenOptions{Dir: o.Dir}); !errors.Is(err, locksteptest.ErrThin) {
		t.Errorf("a match that ends at once: got %v", err)
	}
}

// Where a match of another platform has another result, nobody knows whether the rules have changed: the error names both platforms.
func TestGoldenPlatform(t *testing.T) {
	g := lockstep.MustGame(raceRules(false))
	o := locksteptest.GoldenOptions{Dir: t.TempDir(), Weights: map[string]int{"give up": 0}}
	if err := locksteptest.AddGoldenOf("plan9/mips go1.2", g, o); err != nil {
		t.Fatal(err)
	}
	if r, err := locksteptest.CheckGolden(g, o); err != nil || len(r.Files) != 1 {
		t.Errorf("the same result: got %+v, %v", r, err)
	}
	_, err := locksteptest.CheckGolden(lockstep.MustGame(slowRace()), o)
	want := "other.ssr: the platform differs: recorded on plan9/mips go1.2, this is " + lockstep.Platform() +
		": the rules depend on it, or have changed: run this on plan9/mips go1.2 to tell: lockstep: desync at tick "
	if !errors.Is(err, locksteptest.ErrGoldenPlatform) || errors.Is(err, locksteptest.ErrGoldenChanged) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	rules := raceRules(false)
	rules.Commands = rules.Commands[:1]
	if _, err := locksteptest.CheckGolden(lockstep.MustGame(rules), o); !errors.Is(err, locksteptest.ErrGoldenChanged) {
		t.Errorf("a command less, on any platform: got %v", err)
	}
}

// A golden match that reaches too little is neither added nor verified, unless a reason or a lower floor says why.
func TestGoldenReaches(t *testing.T) {
	rules := raceRules(false)
	rules.Step = func(w *race, _ *struct{}, turn *lockstep.Turn) {
		if w.Tick++; turn.Tick > 250 {
			w.At[0], w.Over = w.At[0]+uint32(len(turn.Commands)), true
		} else if len(turn.Commands) > 0 {
			w.Tick++
		}
	}
	g := lockstep.MustGame(rules)
	o := locksteptest.GoldenOptions{Dir: t.TempDir()}
	if _, err := locksteptest.AddGolden(g, o); !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), "1 of 3 fields of the state changed, want 50 %: not At[] and Over\n") ||
		!strings.Contains(err.Error(), "play longer (Ticks: 1000)") {
		t.Errorf("got %v", err)
	}
	small := o
	small.Floor.Fields = 30
	if _, err := locksteptest.AddGolden(g, small); err != nil {
		t.Errorf("with a lower floor: got %v", err)
	}
	if _, err := locksteptest.CheckGolden(g, o); !errors.Is(err, locksteptest.ErrThin) || !strings.Contains(err.Error(), "delete it if nobody has ever run the build") {
		t.Errorf("verified without it: got %v", err)
	}
	o.AllowThin = "it is all there is"
	if _, err := locksteptest.CheckGolden(g, o); err != nil {
		t.Errorf("with a reason: got %v", err)
	}
	o.AllowThin, o.Ticks, o.Dir = "", 400, t.TempDir()
	if r, err := locksteptest.AddGolden(g, o); err != nil || len(r.Reached.Still) > 0 || r.Reached.Ticks != 400 {
		t.Errorf("a longer match: got %+v, %v", r, err)
	}
}

// Golden tells how to add a match, and adds one if the environment says so.
func TestGoldenFails(t *testing.T) {
	g := lockstep.MustGame(raceRules(true))
	o := locksteptest.GoldenOptions{Dir: t.TempDir(), Weights: map[string]int{"give up": 0}}
	said := func(g *lockstep.Game) string {
		r := &recorder{}
		func() {
			defer func() { _ = recover() }()
			locksteptest.Golden(r, g, o)
		}()
		return r.text + r.log
	}
	if text := said(g); !strings.Contains(text, "no golden match of this build") || !strings.Contains(text, "\nadd a match of a build: SAMESTEP_GOLDEN=add go test -count=1 -run '^TestHerds$/^a\\+b$' .") {
		t.Errorf("got %s", text)
	}
	t.Setenv("SAMESTEP_GOLDEN", "update")
	if text := said(g); text != `locksteptest: golden: got SAMESTEP_GOLDEN="update", want add` {
		t.Errorf("got %s", text)
	}
	t.Setenv("SAMESTEP_GOLDEN", "add")
	if text := said(g); !strings.HasPrefix(text, "locksteptest: golden: build 1: verified ") {
		t.Errorf("got %s", text)
	}
	t.Setenv("SAMESTEP_GOLDEN", "")
	if text := said(g); !strings.HasPrefix(text, "locksteptest: golden: build 1: verified ") {
		t.Errorf("got %s", text)
	}
	if text := said(lockstep.MustGame(slowRace())); !strings.Contains(text, `race-1.ssr: the rules changed but Build did not: raise it: build "1": lockstep: desync at tick `) {
		t.Errorf("got %s", text)
	}
}

func ExampleCheckGolden() {
	dir, err := os.MkdirTemp("", "golden")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	o := locksteptest.GoldenOptions{Dir: dir, Weights: map[string]int{"give up": 0}}
	_, err = locksteptest.AddGolden(lockstep.MustGame(raceRules(false)), o)
	fmt.Println(err)
	_, err = locksteptest.CheckGolden(lockstep.MustGame(slowRace()), o)
	fmt.Println(errors.Is(err, locksteptest.ErrGoldenChanged))
	// Output:
	// <nil>
	// true
}

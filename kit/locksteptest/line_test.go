package locksteptest_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/kit/locksteptest"
	"github.com/seed-49bee653/samestep/lockstep"
)

// Most tests here are about failures, and not about their lines.
func TestMain(m *testing.M) {
	os.Setenv("SAMESTEP_LINE", "off")
	testenv.SmallHeaps()
	os.Exit(m.Run())
}

// The tick of a failure is recorded in both computations, in each phase, and ends in the states that the failure tells.
func TestTraceOfEachPhase(t *testing.T) {
	traced := map[string]bool{}
	for _, bad := range badGames {
		game := func() (*lockstep.Game, locksteptest.Options) { // as in another process
			rules, o := pastureRules(), options()
			bad.spoil(&rules, &o)
			return lockstep.MustGame(rules), o
		}
		g, o := game()
		var f *locksteptest.Failure
		if err := locksteptest.RunPhase(g, o, bad.phase); !errors.As(err, &f) {
			continue // TestPhases says so
		}
		g, o = game()
		dir := t.TempDir()
		r, inStep := locksteptest.Trace(g, o, f, dir)
		if !inStep {
			continue
		}
		if (o.Render != nil || f.Phase == "views") && strings.Contains(bad.name, "writes") {
			if !strings.Contains(r.Error, "does not arise in Step") {
				t.Errorf("%s: got %q, want that it is not in Step", bad.name, r.Error)
			}
			continue
		}
		if r.Error != "" || r.Phase != f.Phase || r.Tick != uint32(f.Tick) || r.From != uint32(f.From) {
			t.Errorf("%s: got %+v of %v", bad.name, r, f)
			continue
		}
		traced[f.Phase] = true
		if twin := f.Phase == "cold twin" && f.From > 0; twin != (len(r.Equal) == 2) || twin && r.Equal[0].Hash != r.Equal[1].Hash {
			t.Errorf("%s: got %v, want both computations of the tick before a cold twin's, which are equal", bad.name, r.Equal)
		}
		var states [2][]byte
		for i := range states {
			var err error
			if states[i], err = os.ReadFile(filepath.Join(dir, r.Runs[i].State)); err != nil {
				t.Fatal(err)
			}
		}
		d, err := g.StateSchema().Diff(states[1], states[0], 1)
		if err != nil || d.Total == 0 || d.List[0].Path != f.Field || d.List[0].A != f.Got || d.List[0].B != f.Want {
			t.Errorf("%s: got %+v, %v, want %s: got %s, want %s", bad.name, d, err, f.Field, f.Got, f.Want)
		}
	}
	for _, phase := range []string{"cold twin", "restore", "late join", "copy", "redo", "refused", "derived", "machine", "reading"} {
		if !traced[phase] && runtime.GOOS != "js" {
			t.Errorf("nothing was traced in phase %q", phase)
		}
	}
}

// The tick in which the rules panic is recorded up to the panic; nothing was computed again.
func TestTraceOfPanic(t *testing.T) {
	rules := pastureRules()
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		if stepPasture(w, config, turn); turn.Tick == 9 {
			panic("fault")
		}
	}
	g, o := lockstep.MustGame(rules), options()
	var f *locksteptest.Failure
	if _, err := locksteptest.Run(g, o); !errors.As(err, &f) || f.Phase != locksteptest.PanicPhase {
		t.Fatal(err)
	}
	r, inStep := locksteptest.Trace(g, o, f, t.TempDir())
	if !inStep || r.Error != "" || r.Tick != 9 || !strings.Contains(r.Runs[0].Panic, "fault") || r.Runs[1].Panic != r.Runs[0].Panic {
		t.Errorf("got %t, %+v", inStep, r)
	}
}

// A result that is another one each time is found by computing the tick again.
func TestTraceOfChance(t *testing.T) {
	rules, calls := pastureRules(), uint64(0)
	rules.Step = func(w *pasture, config *pastureConfig, turn *lockstep.Turn) {
		stepPasture(w, config, turn)
		if calls++; calls > 50 && calls%29 == 0 {
			w.Dice += calls
		}
	}
	g, o := lockstep.MustGame(rules), options()
	var f *locksteptest.Failure
	if _, err := locksteptest.Run(g, o); !errors.As(err, &f) {
		t.Fatal(err)
	}
	r, _ := locksteptest.Trace(g, o, f, t.TempDir())
	if r.Error != "" || r.Runs[0].Hash == r.Runs[1].Hash {
		t.Errorf("got %+v", r)
	}
	calls = 1 << 60 / 29 * 29
	if r, _ := locksteptest.Trace(lockstep.MustGame(pastureRules()), o, f, t.TempDir()); r.Error != "the match does not fail again" {
		t.Errorf("got %+v, want that the good rules do not fail", r)
	}
}

// The failure says in one line what lacks.
func TestLineLacks(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing looks for lines then")
	}
	rules, o := pastureRules(), options()
	staleCache(&rules, &o)
	var f *locksteptest.Failure
	if _, err := locksteptest.Run(lockstep.MustGame(rules), o); !errors.As(err, &f) {
		t.Fatal(err)
	}
	if got := locksteptest.Line(t, f); got != "" {
		t.Errorf("off: got %q", got)
	}
	t.Setenv("SAMESTEP_LINE", "")
	t.Setenv("PATH", "")
	if got := locksteptest.Line(t, f); !strings.HasPrefix(got, "line       not known: ") || strings.Count(got, "\n") != 1 {
		t.Errorf("no go command: got %q", got)
	}
	if got := locksteptest.Line(hurried{t}, f); got != "line       not looked for: the test has no time left\n" {
		t.Errorf("no time: got %q", got)
	}
	outside := *f
	outside.Phase = "fields"
	if got := locksteptest.Line(t, &outside); got != "line       not looked for: the difference does not arise in Step\n" {
		t.Errorf("not in a step: got %q", got)
	}
}

type hurried struct{ testing.TB }

func (hurried) Deadline() (time.Time, bool) { return time.Now().Add(10 * time.Second), true }

// The failed check of a game in another module names the line, whatever makes its rules. The game has one bug for each
// value of bug. Its rules have a parameter, and its test changes them.
func TestLines(t *testing.T) {
	testenv.Long(t)
	if testing.Short() {
		t.Skip("nothing looks for lines then")
	}
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	const engine = "github.com/seed-49bee653/samestep"
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/lines")); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"go.mod": strings.Replace(string(mod), "module "+engine, "module example.com/lines", 1) + "\nrequire " + engine + " v0.0.0\n\nreplace " + engine + " => " + root + "\n",
		"go.sum": string(sum),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run", "^(TestBugs|FuzzBugs)$/^(stale|outside|map|lazy|test|seed#0)$", "./rules")
	c.Dir, c.Env = dir, append(os.Environ(), "SAMESTEP_LINE=9m")
	b, err := c.CombinedOutput()
	out := string(b)
	if err == nil {
		t.Fatalf("no test failed:\n%s", out)
	}
	out, fuzzed, found := strings.Cut(out, "--- FAIL: FuzzBugs")
	if !found || !strings.Contains(fuzzed, "// Found by playing random matches: ") || !strings.Contains(fuzzed, "//\tline       rules/rules.go:") {
		t.Errorf("want the line in the comment of the written test:\n%s", fuzzed)
	}
	parts := strings.Split(out, "--- FAIL: TestBugs/")
	if len(parts) != 6 {
		t.Fatalf("want five bugs found:\n%s", out)
	}
	for _, part := range parts[1:] {
		bug := strings.Fields(part)[0]
		_, line, _ := strings.Cut(part, "line  ")
		line, _, _ = strings.Cut(line, "because")
		if !strings.Contains(line, "// the line of "+bug+"\n") {
			t.Errorf("%s: want its line in\n%s", bug, part)
		}
	}
	if !strings.Contains(parts[1], "values     the match | cold twin of tick ") {
		t.Errorf("want which values are whose in\n%s", parts[1])
	}
}

package locksteptest_test

import (
	"encoding/binary"
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
	"github.com/seed-49bee653/samestep/lockstep/abi"
	"github.com/seed-49bee653/samestep/lockstep/record"
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
	for _, phase := range []string{"cold twin", "restore", "late join", "copy", "redo", "refused", "derived", "machine", "reading", "each"} {
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
	c := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run", "^(TestBugs|FuzzBugs)$/^(stale|outside|map|lazy|each|test|seed#0)$", "./rules")
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
	if len(parts) != 7 {
		t.Fatalf("want six bugs found:\n%s", out)
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

// A counting machine has rules whose state is a counter, and lies where lie says so.
type counting struct {
	lie func(c *counter, f abi.Function, answer []byte) []byte // nil: it is honest
}

// New implements abi.Machine.
func (m counting) New() (abi.Caller, error) { return &counter{lie: m.lie}, nil }

type counter struct {
	lie   func(c *counter, f abi.Function, answer []byte) []byte
	n     uint32
	calls map[abi.Function]int
}

// Close implements abi.Caller.
func (c *counter) Close() {}

// Call implements abi.Caller.
func (c *counter) Call(f abi.Function, in []byte) ([]byte, error) {
	if c.calls == nil {
		c.calls = map[abi.Function]int{}
	}
	c.calls[f]++
	answer, err := c.answer(f, in)
	if c.lie != nil && err == nil {
		answer = c.lie(c, f, answer)
	}
	return answer, err
}

func (c *counter) answer(f abi.Function, in []byte) ([]byte, error) {
	switch f {
	case abi.Describe:
		return []byte(`{"abi":1,"game":"count","build":"1","state":"struct { N uint32 }","config":"struct {}","result":"struct { Won bool }","words":true,
			"commands":[{"kind":1,"name":"add","payload":"struct { By uint8 }"}]}`), nil
	case abi.Create:
		c.n = 1
	case abi.Restore:
		var s abi.State
		if err := abi.States.Decode(in, &s); err != nil {
			return nil, &abi.Refusal{Text: err.Error()}
		}
		c.n = binary.LittleEndian.Uint32(s.Canonical)
	case abi.Save:
		return binary.LittleEndian.AppendUint32(nil, c.n), nil
	case abi.Step:
		var frame abi.Frame
		if err := abi.Frames.Decode(in, &frame); err != nil {
			return nil, &abi.Fault{Text: err.Error()}
		}
		for _, command := range frame.Commands {
			if command.Kind == 1 {
				c.n += 1 + uint32(command.Payload[0])
			}
		}
		return abi.Outcomes.Append(nil, &abi.Outcome{}), nil
	case abi.Word:
		return []byte("adds"), nil
	}
	return nil, nil
}

// checked runs the checks of the harness over rules elsewhere.
func checked(t *testing.T, m abi.Machine) error {
	t.Helper()
	g, err := lockstep.NewGameElsewhere(m)
	if err != nil {
		t.Fatal(err)
	}
	_, err = locksteptest.Run(g, locksteptest.Options{Config: &record.Untyped{}, Ticks: 60, AllowThin: "a counter"})
	return err
}

// The harness finds rules that answer with the right types and other contents. Honest ones pass.
func TestLiesAreFound(t *testing.T) {
	number := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	outcome := func(o abi.Outcome) []byte { return abi.Outcomes.Append(nil, &o) }
	for _, c := range []struct {
		name string
		lie  func(c *counter, f abi.Function, answer []byte) []byte
		want string // "": nothing is found
	}{
		{name: "honest"},
		{"restores another state", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Restore {
				c.n++
			}
			return b
		}, "follower: tick 1: N: got 12, want 11"},
		{"restores nothing", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Restore {
				c.n = 1
			}
			return b
		}, "tick"},
		{"saves another state each time", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Save {
				return number(c.n + uint32(c.calls[f]))
			}
			return b
		}, "tick"},
		{"saves a longer state later", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Save && c.calls[f] > 1 {
				return append(b, 0)
			}
			return b
		}, "new: tick 0: lockstep: tick 0: the game panicked in Save: bad answer of Save: "},
		{"saves a longer state in a later tick", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Save && c.calls[abi.Step] == 9 {
				return append(b, 0)
			}
			return b
		}, ": tick 9: lockstep: tick 9: the game panicked in Save: bad answer of Save: "},
		{"remembers calls", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Step && c.calls[f] == 20 {
				c.n += 7
			}
			return b
		}, "tick"},
		{"changes the state in Validate", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Validate {
				c.n++
			}
			return b
		}, "validate: tick 0: N: got 5, want 1"},
		{"ends with a result that does not fit", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Step && c.calls[f] == 9 {
				return outcome(abi.Outcome{Ended: true, Result: []byte{1, 2, 3}})
			}
			return b
		}, "bad answer of Step"},
		{"ends with a result that is no bool", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Step && c.calls[f] == 9 {
				return outcome(abi.Outcome{Ended: true, Result: []byte{2}})
			}
			return b
		}, "bad answer of Step"},
		{"answers a step with half an outcome", func(c *counter, f abi.Function, b []byte) []byte {
			if f == abi.Step {
				return b[:len(b)/2]
			}
			return b
		}, "bad answer of Step"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := checked(t, counting{c.lie})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Words about a command are cut, and have no characters that control a terminal.
func TestWordsAreBounded(t *testing.T) {
	g, err := lockstep.NewGameElsewhere(counting{func(_ *counter, f abi.Function, b []byte) []byte {
		if f == abi.Word {
			return []byte("\x1b[2J\xff" + strings.Repeat("word ", 10<<20))
		}
		return b
	}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &record.Untyped{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := lockstep.NewDescriber(h, g)
	if err != nil {
		t.Fatal(err)
	}
	kind, payload, err := g.NewPayloads().Encode(&record.Untyped{Kind: 1, Canonical: []byte{3}})
	if err != nil {
		t.Fatal(err)
	}
	text := d.Describe(&lockstep.Command{Tick: 1, Player: 1, Kind: kind, Payload: payload})
	if len(text) > 5000 || strings.Contains(text, "\x1b") || strings.Contains(text, "\xff") || !strings.Contains(text, "word word") {
		t.Errorf("got %d bytes that begin with %.20q, want at most 5000 printable ones", len(text), text)
	}
}

// An unusual refusal of a function that makes a world is an error, and no panic.
func TestRefusedWorld(t *testing.T) {
	for _, f := range []abi.Function{abi.Configure, abi.Create} {
		g, err := lockstep.NewGameElsewhere(refusing{counting{}, f})
		if err != nil {
			t.Fatal(err)
		}
		h, err := g.NewHeader(lockstep.MatchID{}, lockstep.DefaultSettings(1), &record.Untyped{})
		if err == nil {
			_, err = g.NewSimulation(h)
		}
		if config := (*lockstep.ConfigError)(nil); !errors.As(err, &config) || !strings.Contains(err.Error(), "no match") {
			t.Errorf("%v: got %v, want an error of the configuration", f, err)
		}
	}
}

// A refusing machine refuses one function.
type refusing struct {
	counting
	function abi.Function
}

// New implements abi.Machine.
func (m refusing) New() (abi.Caller, error) { return &refuser{function: m.function}, nil }

type refuser struct {
	counter
	function abi.Function
}

// Call implements abi.Caller.
func (c *refuser) Call(f abi.Function, in []byte) ([]byte, error) {
	if f == c.function {
		return nil, &abi.Refusal{Text: "no match"}
	}
	return c.counter.Call(f, in)
}

// choosy rules have an odd number, and refuse to restore another one.
type choosy struct{}

// New implements abi.Machine.
func (m choosy) New() (abi.Caller, error) { return &chooser{}, nil }

type chooser struct{ counter }

// Call implements abi.Caller.
func (c *chooser) Call(f abi.Function, in []byte) ([]byte, error) {
	var s abi.State
	if f == abi.Restore && abi.States.Decode(in, &s) == nil && binary.LittleEndian.Uint32(s.Canonical)%2 == 0 {
		return nil, &abi.Refusal{Text: "an even number"}
	}
	if f == abi.Step {
		c.counter.n += 2
		return abi.Outcomes.Append(nil, &abi.Outcome{}), nil
	}
	return c.counter.Call(f, in)
}

// Rules may refuse a state that no match has: here the one whose lowest bit was changed.
func TestRefusedState(t *testing.T) {
	if err := checked(t, choosy{}); err != nil {
		t.Errorf("got %v, want that a changed state may be refused", err)
	}
	// Control: they may not refuse one of the match.
	if err := checked(t, refusing{counting{}, abi.Restore}); err == nil || !strings.Contains(err.Error(), "no match") {
		t.Errorf("got %v, want the refusal", err)
	}
}

//go:build !js

package tool

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// A foreign is a game's program in a module of its own, outside of the engine's.
type foreign struct {
	t       *testing.T
	dir     string
	program string
	rules   [2][]string // further flags of verbs, and of those after a crash of the server
}

// newForeign writes a module with the verb new, and builds its program.
func newForeign(t *testing.T) *foreign {
	t.Helper()
	if testing.Short() {
		t.Skip("short: it builds a program")
	}
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	f := &foreign{t: t, dir: filepath.Join(t.TempDir(), "hold")}
	var out, errs bytes.Buffer
	if code := tooltest.Execute([]string{"new", f.dir, "--replace", root}, &out, &errs); code != console.ExitOK {
		testenv.Or(t, "the modules of a new game", errors.New(errs.String()))
	}
	f.program = filepath.Join(f.dir, "hold")
	f.build()
	return f
}

func (f *foreign) build() {
	f.t.Helper()
	build := exec.CommandContext(f.t.Context(), "go", "build", "-o", f.program, ".")
	build.Dir = f.dir
	if out, err := build.CombinedOutput(); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
}

// ownCache returns variables that give programs a user's cache of their own, and go its usual one.
func ownCache(t *testing.T) []string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"XDG_CACHE_HOME=" + t.TempDir(), "GOCACHE=" + cmp.Or(os.Getenv("GOCACHE"), filepath.Join(dir, "go-build"))}
}

// run runs the program and returns its output. It fails unless the exit code is as wanted and the output has every text.
func (f *foreign) run(code int, args string, want ...string) string {
	f.t.Helper()
	list := strings.Fields(args)
	if !strings.HasPrefix(args, "replay watch ") { // which simulates nothing
		list = append(list, f.rules[0]...)
	}
	c := exec.CommandContext(f.t.Context(), f.program, list...)
	c.Args[0] = filepath.Base(f.program)
	if f.program == os.Args[0] {
		c.Args[0] = "samestep" // TestMain goes by the name
	}
	c.Dir = f.dir
	b, _ := c.CombinedOutput()
	out := string(b)
	if got := c.ProcessState.ExitCode(); got != code {
		f.t.Errorf("hold %s: got exit code %d, want %d:\n%s", args, got, code, out)
	}
	for _, w := range want {
		if !strings.Contains(out, w) {
			f.t.Errorf("hold %s: want %q in\n%s", args, w, out)
		}
	}
	return out
}

// word returns the word of a text that ends with a suffix.
func (f *foreign) word(text, suffix string) string {
	f.t.Helper()
	for _, w := range strings.Fields(text) {
		if strings.HasSuffix(w, suffix) {
			return w
		}
	}
	f.t.Fatalf("no word ends with %s in\n%s", suffix, text)
	return ""
}

// config writes a file with a configuration.
func (f *foreign) config(text string) string {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, "match.json"), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	return "match.json"
}

// By rules without a fixed result, nobody is accused: no verb takes what they compute for evidence. The command that explain prints
// finds the line.
func TestForeignDisorder(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	f := newForeign(t)
	demo := f.run(console.ExitOK, "demo")
	file, bundle := f.word(demo, ".ssr"), f.word(demo, ".zip")
	defer os.RemoveAll(filepath.Dir(file))
	f.disorder()
	var next string
	for range 5 {
		explained := f.run(console.ExitDesync, "desync explain "+bundle, "NO FIXED RESULT: nobody is accused", "rules without a fixed result,", "Diggers[].At", " --tick ")
		_, next, _ = strings.Cut(explained, "desync line ")
		f.run(console.ExitDesync, "desync triage "+bundle, "1 × no fixed result", "next:", "desync line ")
		f.run(console.ExitDesync, "replay verify "+file, "nobody is accused, because the rules of")
		f.run(console.ExitDesync, "replay bisect "+file+" --player 3", "no fixed result: nobody is accused")
	}
	next, _, _ = strings.Cut(next, "\n")
	f.run(console.ExitDesync, "desync line "+next, "one run", "rules.go:", "range all")
	f.run(console.ExitError, "drill --seed 1", "the rules have no fixed result, so no fault was")
}

// A game outside of the engine's module has every verb.
func TestForeignGame(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	f := newForeign(t)
	demo := f.run(console.ExitOK, "demo", "Diggers[", "THE PLAYER", "everything worked")
	defer os.RemoveAll(filepath.Dir(f.word(demo, ".ssr")))
	file, bundle := f.word(demo, ".ssr"), f.word(demo, ".zip")
	f.run(console.ExitOK, "replay verify "+file, "400 ticks")
	f.run(console.ExitOK, "replay info "+file, "hold")
	f.run(console.ExitOK, "replay seek "+file+" --tick 100", "tick 100", "agrees with the file")
	f.run(console.ExitOK, "replay dump --commands "+file, "walks to")
	f.run(console.ExitOK, "replay bisect "+file+" "+file)
	f.run(console.ExitDesync, "desync explain "+bundle, "THE PLAYER", "Diggers[", "walks to")
	f.run(console.ExitOK, "golden --dir rules/testdata/golden", "hold-1.ssr")
	f.run(console.ExitOK, "vet ./rules")
	f.run(console.ExitOK, "fuzz --matches 2")
	f.run(console.ExitOK, "simulate --seeds 1 --minutes 1", "violations 0")
	f.run(console.ExitOK, "drill --seed 1")
	f.run(console.ExitOK, "bench log --time 10ms")
	f.run(console.ExitUsage, "serve --config {\"Units\":3}", "Units")
	f.run(console.ExitError, "demo --config "+f.config(`{"Gold": 5, "Sped": 3}`), "match.json", `unknown field "Sped", want Gold, Speed`)
	f.run(console.ExitOK, "demo --dir short --config "+f.config(`{"Gold": 1}`), "41 ticks", "everything worked")

	t.Run("advice", f.advice)
	t.Run("parts", func(t *testing.T) { f.parts(t, file) })
	t.Run("live", f.live)
	t.Run("page", f.page)
	t.Run("programs", f.programs)
	t.Run("studio", f.studio)
	f.t = t
	defer f.mistake()

	// The engine's own program does not know the game, and says so.
	var out, errs bytes.Buffer
	if code := tooltest.Execute([]string{"replay", "verify", file}, &out, &errs); code != console.ExitIdentity || !strings.Contains(errs.String(), `use a program with game "hold", build "1"`) {
		t.Errorf("samestep replay verify: got exit code %d and %s", code, &errs)
	}
}

// disorder makes a mistake in the rules: the order of a map decides.
func (f *foreign) disorder() {
	t := f.t
	t.Helper()
	path := filepath.Join(f.dir, "rules", "rules.go")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const right = "	for p := range w.Diggers {\n		w.dig("
	if strings.Count(string(b), right) != 1 {
		t.Fatalf("%s has no loop over the diggers", path)
	}
	wrong := strings.Replace(string(b), right, "	all := map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true}\n	for p := range all {\n		if p < len(w.Diggers) {\n			w.Diggers[0].To = w.Diggers[p].At\n		}\n	}\n"+right, 1)
	if err := os.WriteFile(path, []byte(wrong), 0o644); err != nil {
		t.Fatal(err)
	}
	f.build()
}

// mistake checks that the verbs find a mistake in the rules.
func (f *foreign) mistake() {
	t := f.t
	f.disorder()
	f.run(console.ExitError, "vet ./rules", "maprange")
	f.run(console.ExitDesync, "fuzz --matches 20", "Diggers[0]", "found_")
	if found, err := filepath.Glob(filepath.Join(f.dir, "found_*_test.go")); err != nil || len(found) != 1 {
		t.Errorf("got the written tests %v, %v, want one", found, err)
	} else if b, err := os.ReadFile(found[0]); err != nil || !strings.Contains(string(b), `"example.com/hold/rules"`) {
		t.Errorf("the written test does not import the game: %s, %v", b, err)
	}
	simulated := f.run(console.ExitError, "simulate --seeds 1 --minutes 1", "I1")
	for _, printed := range []string{`(?m)(simulate --game .*)$`, `(?m)(simulate --artifact .*)$`} {
		m := regexp.MustCompile(printed).FindStringSubmatch(simulated)
		if m == nil {
			t.Errorf("no command matches %s in\n%s", printed, simulated)
			continue
		}
		f.run(console.ExitError, m[1], "I1")
	}

	// The test that fuzz wrote fails, though not in each run, and prints the command that runs it alone.
	line, failed := "go test -count=1 .", 0
	for range 20 {
		c := exec.CommandContext(t.Context(), "sh", "-c", line)
		c.Dir, c.Env = f.dir, append(os.Environ(), "GOFLAGS=", "SAMESTEP_LINE=off")
		out, err := c.CombinedOutput()
		if err == nil {
			continue
		}
		m := regexp.MustCompile(`the same test: (go test .*)`).FindSubmatch(out)
		if m == nil {
			t.Fatalf("%s: want a failure that says how to run it again:\n%s", line, out)
		}
		if failed++; failed == 2 {
			return
		}
		line = string(m[1])
	}
	t.Errorf("%s: got %d failures in 20 runs, want 2", line, failed)
}

// A table that only New fills, in a package variable, is in each process that has begun a match, and in each used instance of a module. Whoever
// explains says so, and the command that explain prints finds where it is read.
func TestForeignTable(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	f := newForeign(t)
	demo := f.run(console.ExitOK, "demo", "grade: proven", "one in a process")
	file, bundle := f.word(demo, ".ssr"), f.word(demo, ".zip")
	defer os.RemoveAll(filepath.Dir(file))
	f.replace("func start(", "var tolls []uint8\n\nfunc start(")
	f.replace("	chance := fixed.NewRand(", "	tolls = []uint8{0, 0, 0, 1}\n	chance := fixed.NewRand(")
	f.replace("	for p := range w.Diggers {\n		w.dig(", "	if len(tolls) > 0 {\n		w.Diggers[0].Tired += tolls[int(turn.Tick)%len(tolls)]\n	}\n	for p := range w.Diggers {\n		w.dig(")
	f.build()
	const table = "computed in a process"
	f.run(console.ExitDesync, "desync triage --jobs 1 "+bundle+" "+bundle, "2 × no fixed result")
	f.run(console.ExitDesync, "replay verify "+file, "NO FIXED RESULT")
	explained := f.run(console.ExitDesync, "desync explain "+bundle, table, "Diggers[].At")
	_, next, _ := strings.Cut(explained, "desync line ")
	next, _, _ = strings.Cut(next, "\n")
	f.run(console.ExitDesync, "desync line "+next, "A: after New", "B: in a program that has just got the state", "rules.go:", "tolls")
	f.run(console.ExitOK, "rules build ./rules -o tolls.wasm")
	f.run(console.ExitDesync, "desync explain --rules tolls.wasm "+bundle, "NO FIXED RESULT: nobody is accused", "if New was called", "Diggers[].At", " --rules tolls.wasm --tick 259")
	f.run(console.ExitDesync, "desync line --rules tolls.wasm "+next, "A: from the start", "B: restored before the tick") // without a function
	f.replace("	tolls = []uint8{0, 0, 0, 1}\n", "")
	f.build() // the control
	f.run(console.ExitDesync, "desync triage --jobs 1 "+bundle+" "+bundle, "2 × player")
	f.run(console.ExitOK, "desync line "+bundle, "computes the same again")
}

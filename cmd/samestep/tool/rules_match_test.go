//go:build !js

package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/abi"
	wasm "github.com/seed-49bee653/samestep/module"
	"github.com/seed-49bee653/samestep/replay"
	"github.com/seed-49bee653/samestep/server"
)

// A rulesFolder is the working folder of a test, with replays of pebbles.
type rulesFolder struct {
	*testing.T
	dir, home    string // home has an empty cache
	right, wrong []byte // modules of one game and build; the second computes something else
}

// newRulesFolder returns a folder with the replays right.ssr and wrong.ssr, which have these modules, and plain.ssr without one, all of
// the same match. right-named.ssr and wrong-named.ssr have only the sums of the modules. The test runs beside others.
func newRulesFolder(t *testing.T) *rulesFolder {
	t.Helper()
	t.Parallel()
	golden := filepath.Join(tooltest.Root(t), "examples/pebbles/testdata/golden/pebbles-1.ssr")
	d := &rulesFolder{T: t, dir: t.TempDir(), home: t.TempDir()}
	d.right, d.wrong = tooltest.Pebbles(t)
	for name, b := range map[string][]byte{"right": d.right, "wrong": d.wrong} {
		d.write(name+".wasm", b)
		d.run(console.ExitOK, "replay attach --with-rules "+name+".wasm "+golden+" "+name+".ssr")
		d.run(console.ExitOK, "replay attach --with-rules "+name+".wasm --reference "+golden+" "+name+"-named.ssr")
	}
	d.run(console.ExitOK, "replay attach --none "+golden+" plain.ssr")
	return d
}

// path returns the path of a file in the folder.
func (d *rulesFolder) path(name string) string { return filepath.Join(d.dir, name) }

// write writes a file.
func (d *rulesFolder) write(name string, b []byte) {
	d.Helper()
	path := d.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, b, 0o666)); err != nil {
		d.Fatal(err)
	}
}

// copied copies files into a folder.
func (d *rulesFolder) copied(dir string, names ...string) string {
	d.Helper()
	for i, name := range names {
		b, err := os.ReadFile(d.path(name))
		if err != nil {
			d.Fatal(err)
		}
		d.write(filepath.Join(dir, string(rune('a'+i))+"-"+name), b)
	}
	return dir
}

// run lets a worker run a command line in the folder, checks its exit code, and what it prints.
func (d *rulesFolder) run(code int, line string, want ...string) string {
	d.Helper()
	o := tooltest.Order{Args: append([]string{"samestep"}, strings.Fields(line)...), Dir: d.dir, Env: os.Environ()}
	for _, name := range tooltest.HomeVariables {
		o.Env = append(o.Env, name+"="+d.home)
	}
	got, err := o.Run()
	out := got.Stdout + got.Stderr
	if err != nil || got.Code != code {
		d.Fatalf("%s: got exit code %d and %v, want %d: %s", line, got.Code, err, code, out)
	}
	for _, w := range want {
		if !strings.Contains(out, w) {
			d.Errorf("%s: got %s, want %q", line, out, w)
		}
	}
	return out
}

// Each file is judged by its own rules, whatever is beside it.
func TestRulesOfEachFile(t *testing.T) {
	d := newRulesFolder(t)
	d.run(console.ExitDesync, "replay verify wrong.ssr", "DESYNC")
	d.run(console.ExitOK, "replay verify right.ssr", "true: every checksum")
	if out := d.run(console.ExitOK, "replay profile right.ssr", "phases     not timed, because the rules run in a module"); strings.Contains(out, "allocated") {
		t.Errorf("profile tells of allocations in a module: %s", out)
	}
	for _, jobs := range []string{"1", "2"} {
		d.run(console.ExitDesync, "replay verify --jobs "+jobs+" "+d.copied("right-first", "right.ssr", "wrong.ssr"), "1 desync, 1 ok")
		d.run(console.ExitDesync, "replay verify --jobs "+jobs+" "+d.copied("wrong-first", "wrong.ssr", "right.ssr"), "1 desync, 1 ok")
		d.run(console.ExitIdentity, "replay verify --jobs "+jobs+" "+d.copied("plain", "right.ssr", "plain.ssr"), "1 identity, 1 ok")
	}
	for range 3 { // a module inside another file is none that this one has
		d.run(console.ExitIdentity, "replay verify --jobs 1 "+d.copied("beside", "right.ssr", "right-named.ssr"), "1 identity, 1 ok")
	}
	d.run(console.ExitIdentity, "replay bisect right.ssr wrong.ssr", tooltest.SumOf(d.right), tooltest.SumOf(d.wrong), "--rules FILE")
	d.run(console.ExitDesync, "replay bisect --rules right.wasm --other wrong.wasm wrong.ssr", "they begin with different states")
	if out := d.run(console.ExitOK, "replay verify --rules right.wasm wrong.ssr", "SHA-256 "+tooltest.SumOf(d.wrong), "--rules has another one"); !strings.Contains(out, tooltest.SumOf(d.right)) {
		t.Errorf("got %s, want the sum of the module that was used", out)
	}
}

// A module that a file names by its sum is found by it, and never replaced by another of the same build. What the errors advise helps.
func TestRulesBySum(t *testing.T) {
	d := newRulesFolder(t)
	missing := d.run(console.ExitIdentity, "replay verify right-named.ssr", tooltest.SumOf(d.right), "samestep rules add FILE", "--rules FILE")
	if strings.Contains(missing, tooltest.SumOf(d.wrong)) {
		t.Error(missing)
	}
	d.run(console.ExitOK, "rules add wrong.wasm") // of the same game and build
	d.run(console.ExitIdentity, "replay verify right-named.ssr", tooltest.SumOf(d.right))
	d.run(console.ExitDesync, "replay verify plain.ssr") // names none: that of its build is used
	d.run(console.ExitDesync, "replay verify wrong-named.ssr", "DESYNC")
	d.run(console.ExitOK, "rules add right.wasm") // as advised
	d.run(console.ExitOK, "replay verify right-named.ssr", "true: every checksum")
	d.run(console.ExitDesync, "replay verify wrong-named.ssr", "DESYNC")
	d.run(console.ExitOK, "replay verify --rules right.wasm right-named.ssr", "true: every checksum") // as advised, too

	d.write("store/pebbles.wasm", d.wrong)
	d.run(console.ExitIdentity, "replay verify --rules store right-named.ssr", tooltest.SumOf(d.right), "samestep rules add --dir store FILE")
	d.write("store/mine.wasm", d.right)
	d.run(console.ExitOK, "replay verify --rules store right-named.ssr", "true: every checksum")
}

// A module that is not there is no fault of a file, and one that is damaged in it is. So it is while the file is followed, and after it
// was recovered.
func TestDamagedRules(t *testing.T) {
	d := newRulesFolder(t)
	file, err := os.ReadFile(d.path("right.ssr"))
	if err != nil {
		t.Fatal(err)
	}
	sum := replay.SumRules(d.right)
	at := bytes.Index(file, sum[:])
	for name, where := range map[string]int{"sum": at + 5, "module": at + 500} {
		b := bytes.Clone(file)
		b[where]++
		d.write(name+".ssr", b)
	}
	d.write("cut.ssr", file[:at+500])
	for _, row := range []struct {
		name, class string
		code        int
	}{{"sum.ssr", "corrupt", console.ExitCorrupt}, {"module.ssr", "corrupt", console.ExitCorrupt}, {"cut.ssr", "identity", console.ExitIdentity}, {"right-named.ssr", "identity", console.ExitIdentity}} {
		for _, flags := range []string{"", "--follow --idle 10ms "} {
			d.run(row.code, "replay verify "+flags+"--json "+row.name, `"class": "`+row.class+`"`)
		}
		if row.name == "right-named.ssr" {
			continue
		}
		d.run(console.ExitCorrupt, "replay verify --rules right.wasm "+row.name, "the match is true, but the file is")
		d.run(console.ExitOK, "replay recover "+row.name+" recovered-"+row.name)
		for _, flags := range []string{"", "--follow "} {
			d.run(console.ExitIdentity, "replay verify "+flags+"--json recovered-"+row.name, `"class": "identity"`)
			d.run(console.ExitOK, "replay verify "+flags+"--rules right.wasm recovered-"+row.name, "true: every checksum")
		}
	}
	d.write("store/"+sum.String()+".wasm", d.wrong)
	for _, flags := range []string{"", "--follow "} {
		d.run(console.ExitCorrupt, "replay verify "+flags+"--json --rules store right-named.ssr", `"class": "corrupt"`)
	}
}

// Of several given modules of a build, the match has the one that its file names.
func TestGivenRulesBySum(t *testing.T) {
	d := newRulesFolder(t)
	for _, given := range []string{"--rules wrong.wasm --rules right.wasm", "--rules right.wasm --rules wrong.wasm"} {
		d.run(console.ExitOK, "replay verify "+given+" right.ssr", "true: every checksum")
		d.run(console.ExitDesync, "replay verify "+given+" wrong-named.ssr", "DESYNC")
	}
}

// A server tells which of several modules of a build each match has, and sends them all.
func TestHostedRulesBySum(t *testing.T) {
	d := newRulesFolder(t)
	d.write("store/wrong.wasm", d.wrong)
	right, err := gameset.NewModuleGame(d.right, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := gameset.ModuleSetOf(flagless(nil), nil, gameset.List{right})
	m.Folders = []string{d.path("store")}
	wrong, _ := m.Find(func(*gameset.Playable) bool { return true }) // as for a match that is resumed
	if again, err := m.Find(func(*gameset.Playable) bool { return true }); again != wrong || err != nil {
		t.Fatal(again, err)
	}
	var o server.Options
	if err := serving.SendRules(m.Games(), &o); err != nil {
		t.Fatal(err)
	}
	if n := len(m.Games()); n != 2 {
		t.Errorf("got %d games, want 2", n)
	}
	for g, b := range map[*gameset.Playable][]byte{m.Given[0]: d.right, wrong: d.wrong} {
		if got := o.RulesOf(g.Game); got != tooltest.SumOf(b) {
			t.Errorf("got SHA-256 %s, want %s", got, tooltest.SumOf(b))
		}
		sent := httptest.NewRecorder()
		o.Rules.ServeHTTP(sent, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/rules/"+tooltest.SumOf(b)+".wasm", nil))
		if sent.Code != http.StatusOK || !bytes.Equal(sent.Body.Bytes(), b) {
			t.Errorf("got status %d and %d bytes, want the module", sent.Code, sent.Body.Len())
		}
	}
	if got := o.RulesOf(lockstep.MustGame(minimal.Rules())); got != "" {
		t.Errorf("got SHA-256 %s of a game without a module", got)
	}
}

// A budget that is spent is told, and what the error advises helps.
func TestModuleBudgetAdvice(t *testing.T) {
	d := newRulesFolder(t)
	for _, flag := range []struct{ name, little, enough string }{{"--module-time", "1ns", "1m"}, {"--module-memory", "1", "64"}} {
		for _, verb := range []string{"replay verify right.ssr", "replay verify --rules right.wasm plain.ssr", "desync line right.ssr", "rules inspect right.wasm"} {
			words := strings.Fields(verb)
			with := func(value string) string {
				return strings.Join(append(append(words[:2:2], flag.name, value), words[2:]...), " ")
			}
			if flag.name != "--module-memory" { // the module needs less than a MiB
				d.run(console.ExitCorrupt, with(flag.little), "more with "+flag.name)
			}
			d.run(console.ExitOK, with(flag.enough))
			d.run(console.ExitOK, with("0"))
		}
	}
	d.run(console.ExitOK, "rules inspect --module-time 0 --module-memory 0 right.wasm")
	d.run(console.ExitOK, "replay verify --module-time 1m --jobs 1 "+d.copied("both", "right.ssr", "right.ssr"))
	d.run(console.ExitCorrupt, "replay verify --module-time 1ns --jobs 2 "+d.copied("none", "right.ssr", "right.ssr"), "more with --module-time", "2 limit")
}

// The JSON of each verb that simulates says whose rules did so.
func TestSimulatedBy(t *testing.T) {
	native, err := filepath.Abs("../../../examples/minimal/testdata/golden/minimal-1.ssr")
	if err != nil {
		t.Fatal(err)
	}
	d := newRulesFolder(t)
	right, wrong := `{"game":"pebbles","build":"1","rules":"`+tooltest.SumOf(d.right)+`"}`, `{"game":"pebbles","build":"1","rules":"`+tooltest.SumOf(d.wrong)+`"}`
	for _, c := range []struct {
		code       int
		line, want string
	}{
		{console.ExitOK, "replay verify --json right.ssr", right},
		{console.ExitDesync, "replay verify --json wrong.ssr", wrong},
		{console.ExitDesync, "replay verify --json --rules wrong.wasm plain.ssr", wrong},
		{console.ExitDesync, "replay verify --json --jobs 2 right.ssr wrong.ssr", right + "]}\n"},
		{console.ExitDesync, "replay verify --json --jobs 2 right.ssr wrong.ssr", wrong + "]}\n"},
		{console.ExitOK, "replay bisect --json right.ssr plain.ssr", right},
		{console.ExitOK, "desync line --json right.ssr", right},
		{console.ExitDesync, "replay bisect --json --other wrong.wasm right.ssr", right + "," + wrong},
		{console.ExitOK, "replay verify --json " + native, `"rules":"built in"`},
		{console.ExitIdentity, "replay verify --json plain.ssr", ""}, // nobody
	} {
		out := d.run(c.code, c.line)
		if i := strings.Index(out, `"simulated_by"`); c.want == "" && i >= 0 {
			t.Errorf("%s: got %s, want no rules", c.line, out)
		} else if i < 0 && c.want != "" {
			t.Errorf("%s: got %s, want its rules", c.line, out)
		}
		if short := strings.NewReplacer("\n ", "", " ", "").Replace(out); !strings.Contains(short, strings.ReplaceAll(c.want, " ", "")) {
			t.Errorf("%s: got %s, want %s", c.line, out, c.want)
		}
	}
}

// A program with its own rules for a match warns that it does not use the module that the file names.
func TestOwnRulesForModule(t *testing.T) {
	d := newRulesFolder(t)
	f, err := replay.Open(d.path("right-named.ssr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := gameset.NewModuleGame(d.right, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	m := gameset.ModuleSetOf(flagless(nil), gameset.List{g}, nil)
	m.Warn = func(format string, args ...any) { said += fmt.Sprintf(format, args...) }
	if games, err := m.OfFile(f); len(games) != 1 || games[0] != g || err != nil || !strings.Contains(said, tooltest.SumOf(d.right)) || !strings.Contains(said, "the program's own") {
		t.Errorf("got %v, %v and %q, want a warning that the program's own rules are used", games, err, said)
	}
}

// A limit that the verb got over, or beside which it found a desync, does not replace what it found.
func TestExceededBesideResult(t *testing.T) {
	d := newRulesFolder(t)
	for _, workers := range []string{"1", "64"} {
		d.run(console.ExitOK, "replay verify --workers "+workers+" --module-memory 1 right.ssr", "true: every checksum")
	}
	g, err := gameset.NewModuleGame(d.right, &wasm.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	g.Module.Budget.Time = 1
	caller, err := g.Module.Machine.New()
	if err == nil {
		_, err = caller.Call(abi.Describe, nil)
	}
	if err == nil || g.Module.Budget.Fault() == nil {
		t.Fatalf("got %v, want a spent budget", err)
	}
	found := fmt.Errorf("in a file: %w", &lockstep.DesyncError{})
	if err := gameset.Exceeded(g.Module.Budget, found); err != found {
		t.Errorf("got %v in place of a desync", err)
	}
	if code := console.ExitCode(gameset.Exceeded(g.Module.Budget, nil)); code != console.ExitCorrupt {
		t.Errorf("got exit code %d of a verb that went on without an answer, want %d", code, console.ExitCorrupt)
	}
	f, err := replay.Open(d.path("right.ssr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := gameset.ModuleSetOf(flagless(nil), gameset.List{g}, nil)
	if _, err := m.OfFile(f); err != nil {
		t.Fatal(err)
	}
	if code := console.ExitCode(m.Exceeded(nil)); code != console.ExitCorrupt {
		t.Errorf("got exit code %d of a file without an answer, want %d", code, console.ExitCorrupt)
	}
	if m.Complete(f); m.Exceeded(nil) != nil {
		t.Errorf("got %v of a file whose result is complete", m.Exceeded(nil))
	}
}

// A file that has the sum of a module as its name, and other bytes, is refused.
func TestRulesWithOtherBytes(t *testing.T) {
	d := newRulesFolder(t)
	d.run(console.ExitOK, "rules add right.wasm")
	var path string
	err := filepath.WalkDir(d.home, func(name string, _ fs.DirEntry, err error) error {
		if filepath.Base(name) == tooltest.SumOf(d.right)+".wasm" {
			path = name
		}
		return err
	})
	if path == "" || err != nil {
		t.Fatalf("got no module in the user's folder, %v", err)
	}
	for _, b := range [][]byte{d.wrong, d.right[:100], nil} {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		d.run(console.ExitCorrupt, "replay verify right-named.ssr", path, "got bytes with SHA-256 "+tooltest.SumOf(b), "samestep rules add FILE", "or remove it")
		d.run(console.ExitCorrupt, "replay seek right-named.ssr --tick 10", path)
		d.run(console.ExitCorrupt, "replay dump right-named.ssr", path)
		d.run(console.ExitCorrupt, "replay bisect right-named.ssr right.ssr", path)
		d.run(console.ExitOK, "replay verify right.ssr", "true: every checksum") // it has its own
	}
	d.run(console.ExitOK, "rules add right.wasm") // as advised
	d.run(console.ExitOK, "replay verify right-named.ssr", "true: every checksum")

	d.write(filepath.Join("store", tooltest.SumOf(d.right)+".wasm"), d.wrong)
	d.run(console.ExitCorrupt, "replay verify --rules store right-named.ssr", "samestep rules add --dir store FILE")
	if err := os.Remove(d.path(filepath.Join("store", tooltest.SumOf(d.right)+".wasm"))); err != nil { // as advised
		t.Fatal(err)
	}
	d.run(console.ExitIdentity, "replay verify --rules store right-named.ssr")
}

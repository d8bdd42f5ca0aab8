//go:build !js

package tool

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/kit/determinism"
)

const (
	cleanGame = "// Package game is a simulation.\n//\n//samestep:deterministic\npackage game\n\nfunc step(n *uint32) { *n++ }\n"
	badGame   = "// Package game is a simulation.\n//\n//samestep:deterministic\npackage game\n\nimport \"time\"\n\nfunc step(n *int64) { *n = time.Now().Unix() }\n"

	// rangeGame is bad without an import, for which the go command would have to look.
	rangeGame = "// Package game is a simulation.\n//\n//samestep:deterministic\npackage game\n\nfunc step(m map[int]int, list []int) []int {\n\tfor n := range m {\n\t\tlist = append(list, n)\n\t}\n\treturn list\n}\n"
)

// authorModule changes to a new module of a game author with one source file.
func authorModule(t *testing.T, source string) {
	t.Helper()
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.test/game\n\ngo 1.26\n", "game.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func runVet(t *testing.T, wantCode int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	if code := tooltest.Run(t.Context(), append([]string{"samestep", "vet"}, args...), &out, &errs); code != wantCode {
		t.Errorf("got exit code %d, want %d: %s", code, wantCode, errs.String())
	}
	return out.String(), errs.String()
}

func TestVetFindings(t *testing.T) {
	authorModule(t, badGame)
	const want = "game.go:8:33: clock: time.Now: clocks differ between machines; count ticks\n"
	stdout, stderr := runVet(t, console.ExitError)
	if stdout != want || stderr != "samestep: 1 finding: the simulation may differ between machines\n" {
		t.Errorf("got %q and %q, want %q", stdout, stderr, want)
	}
	stdout, _ = runVet(t, console.ExitError, "./...", "--json")
	var list struct{ Findings []determinism.Finding }
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || len(list.Findings) != 1 || list.Findings[0].String()+"\n" != want {
		t.Errorf("got %s and error %v", stdout, err)
	}
}

func TestVetClean(t *testing.T) {
	authorModule(t, cleanGame)
	if stdout, stderr := runVet(t, console.ExitOK); stdout+stderr != "" {
		t.Errorf("got %q and %q, want nothing", stdout, stderr)
	}
	if stdout, _ := runVet(t, console.ExitOK, "--json"); stdout != "{\n  \"findings\": [],\n  \"functions\": 1\n}\n" {
		t.Errorf("got %q", stdout)
	}
	if _, stderr := runVet(t, console.ExitError, "./nowhere"); !strings.Contains(stderr, "cannot load packages") {
		t.Errorf("got %q", stderr)
	}
}

// vet reports that no function was analyzed.
func TestVetNothing(t *testing.T) {
	authorModule(t, strings.Replace(rangeGame, "//samestep:deterministic", "// Nobody says so.", 1))
	if stdout, stderr := runVet(t, console.ExitOK); stdout != "" || !strings.HasPrefix(stderr, "samestep: no function was analyzed: ") {
		t.Errorf("got %q and %q", stdout, stderr)
	}
	if stdout, stderr := runVet(t, console.ExitError, "--all"); !strings.Contains(stdout, "maprange: ") || strings.Contains(stderr, "no function") {
		t.Errorf("with --all: got %q and %q", stdout, stderr)
	}
}

// The program answers as a tool of "go vet" must: with its version, its flags, and the findings of a package.
func TestVetUnit(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "game.go")
	config := map[string]any{"ID": "example.test/game", "Compiler": "gc", "Dir": dir, "ImportPath": "example.test/game", "GoVersion": "go1.26", "GoFiles": []string{source}, "VetxOutput": filepath.Join(dir, "vetx")}
	b, err := json.Marshal(config)
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "vet.cfg"), b, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		arg, source, want string
		fails             bool
	}{
		{"-V=full", "", "samestep version devel ", false}, {"-flags", "", `"Name"`, false},
		{filepath.Join(dir, "vet.cfg"), cleanGame, "", false}, {filepath.Join(dir, "vet.cfg"), rangeGame, source + ":7:2: maprange: ", true},
	} {
		if err := os.WriteFile(source, []byte(row.source), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "samestep", row.arg).CombinedOutput()
		if (err != nil) != row.fails || !strings.Contains(string(out), row.want) || row.want == "" && len(out) > 0 {
			t.Errorf("%s of %q: got error %v and %s", row.arg, row.source, err, out)
		}
	}
}

// The program is also a tool of "go vet", for a whole module. (The test's binary runs as the program under its name.)
func TestVetTool(t *testing.T) {
	testenv.Long(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(t.TempDir(), "samestep")
	if err := os.Symlink(self, tool); err != nil {
		t.Skipf("no symbolic link: %v", err)
	}
	for _, row := range []struct {
		source string
		fails  bool
	}{{cleanGame, false}, {badGame, true}} {
		authorModule(t, row.source)
		out, err := exec.Command("go", "vet", "-vettool="+tool, "./...").CombinedOutput()
		if (err != nil) != row.fails || row.fails != strings.Contains(string(out), "game.go:8:33: clock: time.Now: ") {
			t.Errorf("got error %v and %s", err, out)
		}
	}
}

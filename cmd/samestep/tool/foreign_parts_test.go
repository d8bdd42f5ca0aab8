//go:build !js

package tool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// parts does what the program of a new game says about each part of a verb that it leaves out, and then has them.
func (f *foreign) parts(t *testing.T, file string) {
	f.t = t
	_, err := exec.LookPath("script")
	testenv.Or(t, "the program script, which makes a terminal", err)
	show := func() string {
		c := exec.CommandContext(t.Context(), "script", "-qec", fmt.Sprintf("%s replay watch %s", f.program, file), os.DevNull)
		c.Dir, c.Stdin = f.dir, strings.NewReader("q")
		out, _ := c.CombinedOutput()
		return string(out)
	}
	const left = "this program leaves that out"
	said := f.run(console.ExitError, "serve --check-config --dir matches --set archive=s3://league/eu", left) +
		f.run(console.ExitError, "replay export --to mcap "+file+" out.mcap", left) + show()

	lines := regexp.MustCompile(`add the line (import _ "[^"]*")`).FindAllStringSubmatch(said, -1)
	command := regexp.MustCompile(`main\.go, and run (go .*?)\s*\n`).FindStringSubmatch(said)
	if len(lines) != 3 || command == nil {
		t.Fatalf("got %d lines to add and the command %q, want 3 and one in\n%s", len(lines), command, said)
	}
	path := filepath.Join(f.dir, "main.go")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, l := range lines {
		text = strings.Replace(text, "\nfunc main", "\n"+l[1]+"\n\nfunc main", 1)
	}
	before := f.modules()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	tidy := exec.CommandContext(t.Context(), "sh", "-c", command[1])
	tidy.Dir = f.dir
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command[1], err, out)
	}
	f.build()
	f.run(console.ExitError, "serve --check-config --dir matches --set archive=s3://league/eu", "want AWS_ACCESS_KEY_ID")
	f.run(console.ExitOK, "replay export --to mcap "+file+" out.mcap")
	if shown := show(); !strings.Contains(shown, "\x1b[?1049h") { // the other screen of a terminal
		t.Errorf("replay watch on a terminal: want a screen in\n%q", shown)
	}
	if added := len(f.modules()) - len(before); added < 20 {
		t.Errorf("the parts add %d lines to go.mod: so few would be no reason to leave them out", added)
	}
}

// modules returns the modules in go.mod that the engine needs.
func (f *foreign) modules() []string {
	f.t.Helper()
	b, err := os.ReadFile(filepath.Join(f.dir, "go.mod"))
	if err != nil {
		f.t.Fatal(err)
	}
	return slices.Collect(func(yield func(string) bool) {
		for l := range strings.Lines(string(b)) {
			if strings.Contains(l, "// indirect") && !yield(strings.Fields(l)[0]) {
				return
			}
		}
	})
}

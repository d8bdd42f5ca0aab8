//go:build !js

package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// studio follows docs/studio.md: it changes the rules as the page says, and runs the commands of the page. Of those that
// wait for a person, the flags must exist.
func (f *foreign) studio(t *testing.T) {
	testenv.Long(t)
	f.t = t
	b, err := os.ReadFile("../../../docs/studio.md")
	if err != nil {
		t.Fatal(err)
	}
	rule, rest, _ := strings.Cut(string(b), "## The tests\n")
	f.change(rule)
	failed := f.goTest()
	messages := regexp.MustCompile(`(?m)^    (locksteptest: .*)$`).FindAllStringSubmatch(rest, -1)
	for _, m := range messages {
		if !strings.Contains(failed, m[1]) {
			t.Errorf("go test: want %q in\n%s", m[1], failed)
		}
	}
	f.change(rest)
	if passed := f.goTest("SAMESTEP_GOLDEN=add"); len(messages) != 2 || strings.Contains(passed, "FAIL") {
		t.Errorf("got %d messages on the page, want 2, and after the mends\n%s", len(messages), passed)
	}
	f.build()
	f.config(excerpt(t, rest, "such as `", "`:"))
	for _, line := range regexp.MustCompile(`(?m)^    (?:SAMESTEP_TOKEN=… )?(?:go run \.|\./hold) (.*)$`).FindAllStringSubmatch(string(b), -1) {
		args := strings.Fields(line[1])
		if args[0] != "serve" && args[0] != "join" && !strings.Contains(line[1], "--web") && !strings.Contains(line[1], "…") {
			f.run(console.ExitOK, line[1])
			continue
		}
		var flags []string
		for _, arg := range args {
			if strings.HasPrefix(arg, "--") {
				name, _, _ := strings.Cut(arg, "=")
				flags = append(flags, name)
			}
		}
		f.run(console.ExitOK, args[0]+" --help", flags...)
	}
	workflow, err := os.ReadFile(filepath.Join(f.dir, ".github", "workflows", "ci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(excerpt(t, rest, "in about three minutes:\n\n", "\n\n")) {
		if want := "run: " + strings.TrimSpace(line) + "\n"; !strings.Contains(string(workflow), want) {
			t.Errorf("the workflow lacks %q", want)
		}
	}
}

// excerpt returns the text between two others.
func excerpt(t *testing.T, text, before, after string) string {
	t.Helper()
	_, text, ok := strings.Cut(text, before)
	text, _, ok2 := strings.Cut(text, after)
	if !ok || !ok2 {
		t.Fatalf("docs/studio.md lacks %q … %q", before, after)
	}
	return text
}

// change makes the changes of a page's blocks of the kind diff. Each has one place in the rules.
func (f *foreign) change(page string) {
	f.t.Helper()
	for _, block := range regexp.MustCompile("(?s)```diff\n(.*?)```").FindAllStringSubmatch(page, -1) {
		var old, now strings.Builder
		for line := range strings.Lines(block[1]) {
			if line[0] != '+' {
				old.WriteString(line[1:])
			}
			if line[0] != '-' {
				now.WriteString(line[1:])
			}
		}
		places := 0
		for _, name := range []string{"rules.go", "view.go", "bot.go"} {
			path := filepath.Join(f.dir, "rules", name)
			b, err := os.ReadFile(path)
			if err != nil {
				f.t.Fatal(err)
			}
			if n := strings.Count(string(b), old.String()); n > 0 {
				places += n
				if err := os.WriteFile(path, []byte(strings.Replace(string(b), old.String(), now.String(), 1)), 0o644); err != nil {
					f.t.Fatal(err)
				}
			}
		}
		if places != 1 {
			f.t.Errorf("got %d places for\n%s", places, block[1])
		}
	}
}

// goTest runs the tests of the rules and returns their output.
func (f *foreign) goTest(env ...string) string {
	f.t.Helper()
	c := exec.CommandContext(f.t.Context(), "go", "test", "./rules")
	c.Dir, c.Env = f.dir, append(os.Environ(), env...)
	b, _ := c.CombinedOutput()
	return string(b)
}

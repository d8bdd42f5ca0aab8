//go:build !js

package tool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// advice does what the stock program advises about a bundle that a build of the game's repository has written: the first command explains
// it, with the game, and does not give the same advice again. It does so in the checkout, in one with changes, and from there.
func (f *foreign) advice(t *testing.T) {
	f.t = t
	_, err := exec.LookPath("git")
	testenv.Or(t, "git", err)
	cache := ownCache(t)
	sh := func(code int, format string, args ...any) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf(format, args...))
		c.Dir, c.Env = f.dir, append(os.Environ(), "GOFLAGS=", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		c.Env = append(c.Env, cache...)
		out, _ := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != code {
			t.Fatalf("%s: got exit code %d, want %d:\n%s", c.Args[2], got, code, out)
		}
		return string(out)
	}
	bin := t.TempDir() // outside of the checkout
	demo := sh(console.ExitOK, "git init -q && printf '/hold\\n*.json\\n' > .gitignore && git add . && git commit -qm one && go build -buildvcs=true -o %[1]s/hold . && %[1]s/hold demo --dir %[1]s", bin)
	bundle := f.word(demo, ".zip")
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "samestep")); err != nil { // TestMain goes by the name
		t.Fatal(err)
	}
	firstOf := func(report string) string {
		_, next, _ := strings.Cut(report, "\nnext ")
		next, _, _ = strings.Cut(strings.TrimSpace(next), "\n")
		return next
	}
	for _, change := range []string{"true", "echo >> README.md"} {
		report := sh(console.ExitDesync, "%s; %s/samestep desync explain %s", change, bin, bundle)
		if !strings.Contains(report, "no game code") {
			t.Fatalf("the stock program has the game:\n%s", report)
		}
		next := firstOf(report)
		again := sh(1, "%s", next) // go run exits with 1 for every code of the program
		if !strings.Contains(again, "THE PLAYER") || !strings.Contains(again, "exit status 3") {
			t.Errorf("after %s, %q does not explain the bundle:\n%s", change, next, again)
		}
		if more := firstOf(again); strings.Contains(more, "desync explain") {
			t.Errorf("after %s, %q gives advice of the same kind: %q", change, next, more)
		}
	}
}

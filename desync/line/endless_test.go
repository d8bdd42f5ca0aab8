package line

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/desync/probe/program"
)

// How a program ended comes from what it printed only if the runtime ended it.
func TestEndedBy(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"exit 4", "exit code 4"},
		{"exit 0", "exit code 0"},
		{"echo one; echo two; exit 1", `exit code 1, after the line "two"`},
		{"kill -9 $$", "signal: killed"},
		{"echo 'runtime: goroutine stack exceeds 250000000-byte limit'; echo 'fatal error: stack overflow'; echo; echo trace; exit 2", "stack overflow"},
		{"echo 'fatal error: concurrent map writes'; echo; echo trace; exit 2", "fatal error: concurrent map writes"},
		{"echo 'panic: of a goroutine'; exit 2", "panic: of a goroutine"},
		{"echo 'panic: of no goroutine'; exit 3", `exit code 3, after the line "panic: of no goroutine"`},
	} {
		out, err := exec.Command("sh", "-c", c.script).CombinedOutput()
		if got := endedBy(err, string(out)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.script, got, c.want)
		}
	}
}

// Of a deep recursion, a path has the calls at both ends.
func TestPathOf(t *testing.T) {
	var stack []step
	for i := range 1000 {
		stack = append(stack, step{id: i})
	}
	if p := pathOf(stack); len(p) != maxPath || p[0].id != 0 || p[maxPath/2].id != 1000-maxPath/2 || p[maxPath-1].id != 999 {
		t.Errorf("got %v", p)
	}
	if p := pathOf(stack[:40]); len(p) != 40 || p[39].id != 39 {
		t.Errorf("got %v", p)
	}
}

// A program that ends before it has computed anything is an error that says how.
func TestEndedTooSoon(t *testing.T) {
	one := &side{name: "B", binary: "/bin/sh", folder: t.TempDir()}
	if _, err := os.Stat(one.binary); err != nil {
		t.Skip("no shell here")
	}
	_, err := one.run(t.Context(), "hashes", program.Job{Kind: program.Hashes})
	const want = "line: side B exits before the tick (exit code "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

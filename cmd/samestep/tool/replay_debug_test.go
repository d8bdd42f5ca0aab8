//go:build !js

package tool

import (
	"bytes"
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

// replay debug says what it lacks, and leaves no folder behind. Package desync/line tests where the debugger stops.
func TestReplayDebugLacks(t *testing.T) {
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	const duel = "../../../testdata/replays/duel.ssr"
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	sources := t.TempDir() // in no module
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{duel, console.ExitUsage, "want --tick"},
		{"--tick 0 " + duel, console.ExitUsage, "--tick: got 0, want at least 1"},
		{"--tick 5 --source DIR " + duel, console.ExitError, "is not in a Go module"},
		{"--tick 5 --source no-such-revision " + duel, console.ExitError, `"no-such-revision" is neither a folder nor a git revision`},
		{"--tick 5 no-such-file.ssr", console.ExitError, "no-such-file.ssr"},
	} {
		var out bytes.Buffer
		args := strings.Fields("samestep replay debug " + strings.ReplaceAll(c.args, "DIR", sources))
		if code := tooltest.Run(t.Context(), args, &out, &out); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: got exit code %d and %q, want %d and %q", c.args, code, &out, c.code, c.want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(temp, "samestep-debug-*")); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v, want no folder", left, err)
	}
}

// With --print, the program is built, and a person is told how to start it.
func TestReplayDebugPrints(t *testing.T) {
	testenv.Long(t)
	dir := t.TempDir()
	var out bytes.Buffer
	if code := tooltest.Run(t.Context(), strings.Fields("samestep demo --seconds 5 --config {\"Units\":100} --players 2 --dir "+dir), &out, &out); code != console.ExitOK {
		t.Fatalf("demo: exit code %d: %s", code, &out)
	}
	out.Reset()
	args := strings.Fields("samestep replay debug --print --tick 30 --path Match.Tick --source ../../.. " + filepath.Join(dir, "skirmish.ssr"))
	if code := tooltest.Run(t.Context(), args, &out, &out); code != console.ExitOK {
		t.Fatalf("exit code %d: %s", code, &out)
	}
	folder := regexp.MustCompile(`(?m)^folder     (\S+) has the program`).FindStringSubmatch(out.String())
	if folder == nil || !strings.Contains(out.String(), "field      Match.Tick is 29 before the tick\n") || !strings.Contains(out.String(), "dlv exec ") {
		t.Fatalf("got\n%s", &out)
	}
	defer os.RemoveAll(folder[1])
	if _, err := os.Stat(filepath.Join(folder[1], "before-tick.dlv")); err != nil {
		t.Error(err)
	}
}

//go:build !js

package tool

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// desync line says what it lacks. Package desync/line has the tests of what it finds.
func TestDesyncLineLacks(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	const duel = "../../../testdata/replays/duel.ssr"
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--runs 1 " + duel, console.ExitUsage, "--runs"},
		{"--other v1 --platform js/wasm " + duel, console.ExitError, "name another version or another platform, not both"},
		{"--source DIR --other DIR " + duel, console.ExitError, "; it needs the Go sources of "},
		{"--other DIR " + duel, console.ExitError, " is not in a Go module; it needs the Go sources of game \"skirmish\": run it in their folder, or name the folder with --other DIR"},
		{"--other no-such-revision " + duel, console.ExitError, `"no-such-revision" is neither a folder nor a git revision`},
		{"--platform plan9/amd64 " + duel, console.ExitError, "do not run on"},
		{"no-such-file.ssr", console.ExitError, "no-such-file.ssr"},
	} {
		var out bytes.Buffer
		args := strings.Fields("samestep desync line " + strings.ReplaceAll(c.args, "DIR", t.TempDir()))
		if code := tooltest.Run(t.Context(), args, &out, &out); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: got exit code %d and %q, want %d and %q", c.args, code, &out, c.code, c.want)
		}
	}
}

// Files that cannot be read are named, and so are the others.
func TestDesyncLineBatch(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.ssr", "b.zip", "c.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("nothing"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, json := range []string{"", "--json"} {
		var out bytes.Buffer
		args := append([]string{"samestep", "desync", "line", dir}, strings.Fields(json)...)
		code := tooltest.Run(t.Context(), args, &out, &out)
		if text := out.String(); code != console.ExitCorrupt || !strings.Contains(text, "a.ssr") || !strings.Contains(text, "b.zip") || strings.Contains(text, "c.txt") {
			t.Errorf("got exit code %d and %q", code, text)
		}
	}
}

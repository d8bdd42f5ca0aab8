//go:build !js && !wasip1

package tool

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// desync line says what it lacks. Package internal/line has the tests of what it finds.
func TestDesyncLineLacks(t *testing.T) {
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	const duel = "../../../testdata/replays/duel.ssr"
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--runs 1 " + duel, exitUsage, "--runs"},
		{"--other v1 --platform js/wasm " + duel, exitError, "want another version or another platform, not both"},
		{"--source DIR --other DIR " + duel, exitError, "is in no Go module"},
		{"--other no-such-revision " + duel, exitError, `"no-such-revision" is no folder`},
		{"--platform plan9/amd64 " + duel, exitError, "do not run on"},
		{"no-such-file.ssr", exitError, "no-such-file.ssr"},
	} {
		var out bytes.Buffer
		args := strings.Fields("samestep desync line " + strings.ReplaceAll(c.args, "DIR", t.TempDir()))
		if code := run(t.Context(), args, &out, &out); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: got exit code %d and %q, want %d and %q", c.args, code, &out, c.code, c.want)
		}
	}
}

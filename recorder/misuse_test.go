// A browser starts no programs.
//go:build !js

package recorder_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/recorder"
)

// A call that C or Python allows, but the recorder cannot make, is an error that says what is wrong. Without the checks, the
// program in C would crash, and that in Python would raise errors of other types.
func TestMisuse(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the recorders in other languages are the same on every platform")
	}
	t.Setenv(recorder.Variable, "")
	for _, p := range []struct{ source, runner string }{{"misuse.c", "gcc"}, {"misuse.py", "python3"}} {
		t.Run(p.source, func(t *testing.T) {
			runner, err := exec.LookPath(p.runner)
			testenv.Or(t, p.runner, err)
			command, dir := []string{runner, filepath.Join("testdata", p.source)}, t.TempDir()
			if p.runner == "gcc" {
				command = []string{filepath.Join(dir, "misuse"), filepath.Join(dir, "misuse.jsonl")}
				flags := []string{"-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", "c"}
				if out, err := exec.Command(runner, append(flags, "-o", command[0], filepath.Join("testdata", p.source))...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			got, err := exec.Command(command[0], command[1:]...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, got)
			}
			want, err := os.ReadFile(filepath.Join("testdata", p.source+".txt"))
			if err != nil || string(got) != string(want) {
				t.Errorf("got\n%s\nwant\n%s\n%v", got, want, err)
			}
		})
	}
}

package script

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Rewrite reports whether the flag -rewrite is set: the test replaces its expected output.
func Rewrite() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// An Interpreter runs one step and returns its output, without the last newline.
type Interpreter func(s *Step) string

// Run runs each script that glob matches in a subtest with a new interpreter. It fails if
// glob matches no files.
func Run(t *testing.T, glob string, start func(t *testing.T) Interpreter) {
	t.Helper()
	files, err := filepath.Glob(glob)
	if err != nil || len(files) == 0 {
		t.Fatalf("script: %s: got no files (%v)", glob, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		t.Run(name, func(t *testing.T) {
			run := start(t)
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string { return runBlock(t, d, run) })
		})
	}
}

// runBlock runs the steps of a block and returns their output.
func runBlock(t *testing.T, d *datadriven.TestData, run Interpreter) string {
	steps := []*Step{{Verb: d.Cmd, args: d.CmdArgs}}
	for line := range strings.Lines(d.Input) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		s, err := parseStep(line)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		steps = append(steps, s)
	}
	var out []string
	for _, s := range steps {
		text := run(s)
		if err := s.check(); err != nil {
			d.Fatalf(t, "%v", err)
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}

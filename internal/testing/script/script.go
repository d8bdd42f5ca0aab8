package script

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected output of scripts and golden files")

// Update reports whether the test was told to rewrite its expectations.
func Update() bool { return *update }

// An Interpreter runs one step and returns what it prints, without the last
// newline.
type Interpreter func(s *Step) string

// Run runs each script that glob finds in a test of its own, with a new
// interpreter. A glob that finds nothing fails.
func Run(t *testing.T, glob string, start func(t *testing.T) Interpreter) {
	t.Helper()
	files, err := filepath.Glob(glob)
	if err != nil || len(files) == 0 {
		t.Fatalf("script: %s: got no files (%v)", glob, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		t.Run(name, func(t *testing.T) { runFile(t, file, start(t)) })
	}
}

func runFile(t *testing.T, file string, run Interpreter) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := parse(string(src))
	for i := range blocks {
		b := &blocks[i]
		if b.steps == nil {
			continue
		}
		got := b.run(t, file, run)
		if got != b.want && !Update() {
			t.Errorf("%s:%d: %s\ngot:\n%s\nwant:\n%s", file, b.line, strings.Join(b.steps, "\n"), got, b.want)
		}
		b.want = got
	}
	if !Update() {
		return
	}
	if err := os.WriteFile(file, []byte(format(blocks)), 0o666); err != nil {
		t.Fatal(err)
	}
}

// run runs the steps of a block and returns what they print.
func (b *block) run(t *testing.T, file string, run Interpreter) string {
	var out []string
	for i, line := range b.steps {
		s, err := parseStep(line)
		if err != nil {
			t.Fatalf("%s:%d: %v", file, b.line+i, err)
		}
		text := run(s)
		if err := s.check(); err != nil {
			t.Fatalf("%s:%d: %s: %v", file, b.line+i, line, err)
		}
		if strings.Contains(text, "\n\n") {
			t.Fatalf("%s:%d: %s: printed an empty line, which a script cannot hold", file, b.line+i, line)
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}

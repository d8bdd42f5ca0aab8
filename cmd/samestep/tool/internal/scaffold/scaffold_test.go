package scaffold_test

import (
	"bytes"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/scaffold"
)

// A new module has its own name everywhere, and a golden match.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := scaffold.Write(scaffold.Options{Dir: dir, Name: "hex-hold", Replace: "/engine"}); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"go.mod":                               "module example.com/hex-hold\n\ngo 1.26.0\n\nrequire github.com/seed-49bee653/samestep v0.0.0\n\nreplace github.com/seed-49bee653/samestep => /engine\n",
		"main.go":                              `"example.com/hex-hold/rules"`,
		"rules/rules.go":                       `Name:     "hex-hold"`,
		"rules/rules_test.go":                  "locksteptest.Golden(",
		"rules/bot.go":                         "func NewBot(",
		".github/workflows/ci.yml":             "-fuzzminimizetime 5x ./rules",
		"README.md":                            "# hex-hold\n",
		".gitignore":                           "/hex-hold\n",
		"rules/testdata/golden/hex-hold-1.ssr": "",
	} {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: got %.300q, error %v, want %q in it", file, b, err, want)
		}
		if strings.Contains(string(b), "goldrush") || strings.Contains(string(b), "scaffold") {
			t.Errorf("%s has a name of the sample", file)
		}
		if filepath.Ext(file) != ".go" {
			continue
		}
		if formatted, err := format.Source(b); err != nil || !bytes.Equal(formatted, b) {
			t.Errorf("%s: gofmt changes it, error %v:\n%s", file, err, b)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "main.go")); strings.Count(string(b), "\n") > 15 {
		t.Errorf("main.go has more than 15 lines:\n%s", b)
	}
}

// Nothing is overwritten, and a name must be one of a module.
func TestWriteRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "notes"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]scaffold.Options{
		"a folder with files":    {Dir: full, Name: "game"},
		"want small letters":     {Dir: filepath.Join(t.TempDir(), "x"), Name: "My Game"},
		`got ""`:                 {Dir: filepath.Join(t.TempDir(), "x")},
		`got "../../etc/passwd"`: {Dir: filepath.Join(t.TempDir(), "x"), Name: "../../etc/passwd"},
	} {
		if err := scaffold.Write(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want %q", o, err, want)
		}
	}
	if left, _ := os.ReadDir(full); len(left) != 1 {
		t.Errorf("got %v in a refused folder", left)
	}
}

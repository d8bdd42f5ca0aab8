//go:build linux

package tool

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/about"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
)

// systemd knows every line of the unit, and a line that it does not know is found.
func TestUnit(t *testing.T) {
	unit, err := os.ReadFile("../../../docs/operations/samestep.service")
	if err != nil {
		t.Fatal(err)
	}
	line := string(regexp.MustCompile(`(?m)^ExecStart=.*$`).Find(unit))
	checkServeFlags(t, strings.Fields(line), "--settings") // whose file TestWriteSettings looks at
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "samestep.service")
	verify := func(text []byte) string {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", "--recursive-errors=no", file).CombinedOutput()
		return string(out)
	}
	unit = bytes.ReplaceAll(unit, []byte("/usr/local/bin/samestep"), []byte("/bin/true"))
	if out := verify(bytes.Replace(unit, []byte("LockPersonality"), []byte("LockPersonalty"), 1)); !strings.Contains(out, "LockPersonalty") {
		t.Skipf("systemd-analyze does not work here: %s", out)
	}
	if out := verify(unit); strings.Contains(out, "samestep.service") {
		t.Errorf("got %s, want no complaint", out)
	}
}

// The image runs as nobody, and its server knows its flags.
func TestDockerfile(t *testing.T) {
	b, err := os.ReadFile("../../../docs/operations/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^ENTRYPOINT (\[.*\])$`).FindSubmatch(b)
	var args []string
	if m == nil || json.Unmarshal(m[1], &args) != nil {
		t.Fatalf("got %q, want an entry point as a list", m)
	}
	checkServeFlags(t, args, "--resume")
	if _, last, _ := strings.Cut(string(b), "FROM scratch\n"); !strings.Contains(last, "\nUSER 65532:65532\n") {
		t.Errorf("got an image\n%s, want one with a user", last)
	}
}

// checkServeFlags looks for flags that serve does not have.
func checkServeFlags(t *testing.T, args []string, want string) {
	t.Helper()
	if !slices.Contains(args, "serve") || !slices.Contains(args, want) {
		t.Errorf("got %q, want serve with %s", args, want)
	}
	known := about.FlagWords(serving.ServeCommand().Flags)
	for _, arg := range args {
		if strings.HasPrefix(arg, "--") && !slices.Contains(known, arg) {
			t.Errorf("serve has no %s", arg)
		}
	}
}

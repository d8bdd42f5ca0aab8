package conformance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

// Readers in Python that were written from docs/spec get the same
// result for every file: the formats can be implemented without our code.
func TestPythonRunsSuite(t *testing.T) {
	for reader, kinds := range map[string][]string{
		"reader.py":  {"replay", "record", "schema"},
		"annexes.py": {"datagram", "view", "abi", "recording", "flight"},
	} {
		cases := 0
		for _, c := range suite(t).Cases {
			if slices.Contains(kinds, c.Kind) {
				cases++
			}
		}
		differ, ran := runPython(t, reader, dir)
		if ran != cases || cases < 110 {
			t.Errorf("%s: got %d cases, want the %d of the index, and at least 110", reader, ran, cases)
		}
		for _, line := range differ {
			t.Error(line)
		}
	}
}

// runPython runs a reader on the suite in a folder. It returns a line for each case that
// differs, and the number of cases.
func runPython(t *testing.T, reader, folder string) (differ []string, cases int) {
	t.Helper()
	python, err := exec.LookPath("python3")
	testenv.Or(t, "python3", err)
	_, err = exec.LookPath("zstd")
	testenv.Or(t, "zstd", err)
	out, _ := exec.Command(python, "-B", "../../../replay/testdata/"+reader, "--suite", folder).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	wrong := 0
	if n, err := fmt.Sscanf(lines[len(lines)-1], "%d cases, %d differ", &cases, &wrong); n != 2 || wrong != len(lines)-1 {
		t.Fatalf("%v: got\n%s", err, out)
	}
	return lines[:wrong], cases
}

// Control: the reader notices a wrong verdict and a changed file.
func TestPythonControl(t *testing.T) {
	testenv.Long(t)
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	text, err := readCase("index.json")
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"verdict": "torn"`), []byte(`"verdict": "corrupt"`), 1)
	text = bytes.Replace(text, []byte(`"file": "view/view-cut.hex"`), []byte(`"file": "view/view-zeros.hex"`), 1)
	text = bytes.Replace(text, []byte(`"first": 5`), []byte(`"first": 6`), 1)
	if err := os.WriteFile(filepath.Join(folder, "index.json"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := readCase("replay/standard.ssr")
	if err != nil {
		t.Fatal(err)
	}
	file[200] ^= 1
	if err := os.WriteFile(filepath.Join(folder, "replay", "standard.ssr"), file, 0o666); err != nil {
		t.Fatal(err)
	}
	if differ, _ := runPython(t, "reader.py", folder); len(differ) != 2 {
		t.Errorf("got %q, want two cases that differ", differ)
	}
	if differ, _ := runPython(t, "annexes.py", folder); len(differ) != 2 {
		t.Errorf("got %q, want two cases of the annexes that differ", differ)
	}
}

// A browser starts no programs.
//go:build !js

package replay_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/replay"
)

// A reader in another language, written from docs/spec/replay.md, reads the same contents: the format can be read
// without our code.
func TestPythonReader(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the reader in Python is the same on every platform, and so are the files")
	}
	python, err := exec.LookPath("python3")
	testenv.Or(t, "python3", err)
	_, err = exec.LookPath("zstd")
	testenv.Or(t, "zstd", err)
	_, file, _ := recordMatch(t, 205, replay.WriterOptions{})
	path, sealedPath := filepath.Join(t.TempDir(), "match.ssr"), filepath.Join(t.TempDir(), "sealed.ssr")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	sealedFile := sealed(t, file, replay.WriterOptions{SegmentTicks: 60})
	if err := os.WriteFile(sealedPath, sealedFile, 0o666); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(goldenDir, "*.ssr"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden replays: %v", err)
	}
	versions, err := filepath.Glob(filepath.Join(versionDir, "*.ssr"))
	if err != nil || len(versions) == 0 {
		t.Fatalf("no files of old versions: %v", err)
	}
	if testenv.Small(t) { // each file is a process, and one for each segment
		paths = paths[:1]
		versions = slices.DeleteFunc(versions, func(path string) bool { return !strings.HasSuffix(path, "-sealed.ssr") })
	}
	for _, path := range slices.Concat(paths, versions, []string{path, sealedPath}) {
		if strings.HasSuffix(path, "-torn.ssr") {
			continue // it reads whole files
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := replay.ReadInfo(open(t, b))
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(python, "testdata/reader.py", path).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got, want := strings.TrimSpace(string(out)), fmt.Sprint(info.Ticks, info.Commands, " ", info.ContentHash); got != want {
			t.Errorf("%s: Python reads %s, want %s", path, got, want)
		}
	}
	for path, file := range map[string][]byte{path: file, sealedPath: sealedFile} {
		file[len(file)/2] ^= 1
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(python, "testdata/reader.py", path).CombinedOutput(); err == nil {
			t.Errorf("%s: Python reads a damaged file: %s", path, out)
		}
	}
}

//go:build !js

package tool

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/server/archive"
)

// --check-config says what lower limits would delete, and deletes nothing.
func TestCheckTellsRetention(t *testing.T) {
	place := t.TempDir()
	matches, err := filepath.Glob("../../../testdata/replays/*.ssr")
	if err != nil || len(matches) < 3 {
		t.Fatal(matches, err)
	}
	for i, path := range matches {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		to, at := filepath.Join(place, filepath.Base(path)), time.Unix(1e9+int64(i), 0)
		if err := os.WriteFile(to, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(to, at, at); err != nil {
			t.Fatal(err)
		}
	}
	store, err := archive.OpenFolder(place)
	if err == nil {
		_, err = archive.Index(t.Context(), store, filepath.Join(place, "index.db"), slog.New(slog.DiscardHandler))
	}
	if err != nil {
		t.Fatal(err)
	}
	for keep, want := range map[string]string{"1": "retention: would delete 3 files with ", "4": ""} {
		code, out := checkServe(t, "", "--dir", t.TempDir(), "--set", "archive="+place, "--set", "keep-replays="+keep)
		if code != console.ExitOK || !strings.Contains(out, want) || strings.Contains(out, "retention") != (want != "") {
			t.Errorf("%s: got exit code %d and %s, want %q", keep, code, out, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(place, "*.ssr")); err != nil || len(left) != len(matches) {
		t.Errorf("left %v, %v", left, err)
	}
}

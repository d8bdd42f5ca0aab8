package replay_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/replay"
)

// If a file cannot be locked or its folder cannot be synced, the file is removed again.
func TestCreateFails(t *testing.T) {
	works := func(*os.File) error { return nil }
	fails := func(*os.File) error { return errFailing }
	for name, steps := range map[string][]func(*os.File) error{"lock": {fails, works}, "sync": {works, fails}} {
		dir := t.TempDir()
		path := filepath.Join(dir, "match.ssr")
		if f, err := replay.CreateBy(path, steps...); f != nil || !errors.Is(err, errFailing) {
			t.Errorf("%s: got %v, %v, want %v", name, f, err, errFailing)
		}
		if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
	path := filepath.Join(t.TempDir(), "match.ssr")
	if err := os.WriteFile(path, []byte("another"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file of that name: got %v, want %v", err, fs.ErrExist)
	}
	if b, err := os.ReadFile(path); string(b) != "another" || err != nil {
		t.Errorf("the file that was there is changed: %q, %v", b, err)
	}
}

//go:build !js && !wasip1

package checks

import (
	"os"
	"path/filepath"
	"testing"
)

// The test that fuzz writes is of the package in its folder, beside which go takes no other.
func TestTestPackageIn(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []string{"", "main_test"} {
		if got := testPackageIn(dir); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		for name, text := range map[string]string{"a_test.go": "package other_test\n", "b.go": "package main\n", "c.txt": "package text\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

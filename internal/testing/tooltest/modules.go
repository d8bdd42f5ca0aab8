//go:build !js

package tooltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/replay"
)

// Root returns the folder of the repository, of which the test's is a part.
func Root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	t.Fatal("the test is in no module: ", err)
	return ""
}

// Pebbles returns the rules of a game that no program of ours has, from its golden match. The second module has the same game and
// build, and computes something else.
func Pebbles(t *testing.T) (right, wrong []byte) {
	t.Helper()
	f, err := replay.Open(filepath.Join(Root(t), "examples/pebbles/testdata/golden/pebbles-1.ssr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := r.Rules()
	if err != nil || rules == nil {
		t.Fatal("the golden match has no rules", err)
	}
	if right, err = rules.Module(); err != nil || right == nil {
		t.Fatal("the golden match has no module", err)
	}
	wrong = bytes.ReplaceAll(right, []byte{0x42, 13, 0x86}, []byte{0x42, 14, 0x86}) // i64.const 13, i64.shl
	if bytes.Equal(right, wrong) {
		t.Fatal("the module has no shift by 13")
	}
	return right, wrong
}

// SumOf returns the SHA-256 of a module.
func SumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// HomeVariables are those of the environment that name the folder of the user's cache, or one above it.
var HomeVariables = []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"}

// InEmptyCache gives the test, and the programs that it runs, a cache of their own.
func InEmptyCache(t *testing.T) {
	for _, name := range HomeVariables {
		t.Setenv(name, t.TempDir())
	}
}

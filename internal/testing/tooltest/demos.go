//go:build !js

package tooltest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// demos are the files of demos, which the tests of a package share.
var demos struct {
	mu   sync.Mutex
	dir  string
	made map[string]string // folders, by arguments
}

// CopyDemo copies the files of "samestep demo" with some arguments into a folder.
func CopyDemo(to string, args ...string) error {
	from, err := demo(args)
	if err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	err = errors.Join(err, os.MkdirAll(to, 0o777))
	for _, f := range files {
		b, readErr := os.ReadFile(filepath.Join(from, f.Name()))
		err = errors.Join(err, readErr, os.WriteFile(filepath.Join(to, f.Name()), b, 0o666))
	}
	return err
}

// demo returns the folder of a demo, which nobody may change.
func demo(args []string) (string, error) {
	key := strings.Join(args, " ")
	demos.mu.Lock()
	defer demos.mu.Unlock()
	if dir := demos.made[key]; dir != "" {
		return dir, nil
	}
	if demos.dir == "" {
		var err error
		if demos.dir, err = os.MkdirTemp("", "samestep-test-demos-*"); err != nil {
			return "", err
		}
		demos.made = make(map[string]string)
	}
	dir := filepath.Join(demos.dir, strconv.Itoa(len(demos.made)))
	result, err := Order{Args: append([]string{"samestep", "demo", "--dir", dir}, args...), Dir: demos.dir, Env: os.Environ()}.Run()
	if err != nil || result.Code != 0 {
		return "", fmt.Errorf("demo %s: exit code %d, %v: %s", key, result.Code, err, result.Stderr)
	}
	demos.made[key] = dir
	return dir, nil
}

func removeDemos() {
	if demos.dir != "" {
		os.RemoveAll(demos.dir)
	}
}

// DemoBundle returns the path of a bundle that a demo has written, in a folder with its other files.
func DemoBundle(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := CopyDemo(dir, "--seconds", "8", "--config", `{"Units":120}`); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "skirmish-desync-140-player3.zip")
}

// One returns the only file of a pattern.
func One(t *testing.T, pattern string) string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) != 1 {
		t.Fatalf("got %q, %v for %s, want one file", all, err, pattern)
	}
	return all[0]
}

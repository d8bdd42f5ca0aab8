//go:build !js && !wasip1

package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
)

// demoFiles are the files of demos, by their arguments. The tests share them.
type demoFiles struct {
	mu   sync.Mutex
	dir  string
	made map[string]string // folders
}

var demos demoFiles

// copy copies the files of "samestep demo" with these arguments into a folder.
func (d *demoFiles) copy(to string, args ...string) error {
	from, err := d.of(args)
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

// of returns the folder of a demo, which nobody may change.
func (d *demoFiles) of(args []string) (string, error) {
	key := strings.Join(args, " ")
	d.mu.Lock()
	defer d.mu.Unlock()
	if dir := d.made[key]; dir != "" {
		return dir, nil
	}
	if d.dir == "" {
		var err error
		if d.dir, err = os.MkdirTemp("", "samestep-test-demos-*"); err != nil {
			return "", err
		}
		d.made = make(map[string]string)
	}
	dir := filepath.Join(d.dir, strconv.Itoa(len(d.made)))
	result, err := runOrder(order{Args: append([]string{"samestep", "demo", "--dir", dir}, args...), Dir: d.dir, Env: os.Environ()})
	if err != nil || result.Code != console.ExitOK {
		return "", fmt.Errorf("demo %s: exit code %d, %v: %s", key, result.Code, err, result.Stderr)
	}
	d.made[key] = dir
	return dir, nil
}

func (d *demoFiles) remove() {
	if d.dir != "" {
		os.RemoveAll(d.dir)
	}
}

// demoBundle returns the path of a bundle that a demo has written, in a folder with its other files.
func demoBundle(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := demos.copy(dir, "--seconds", "8", "--config", `{"Units":120}`); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "skirmish-desync-140-player3.zip")
}

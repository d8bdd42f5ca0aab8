//go:build unix && !solaris && !aix && !js

package tool

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/replays"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// patience is the time limit of a verb that has to reject its argument at once. A verb that waits for a pipe would wait
// forever.
const patience = 60 * time.Second

// runIn runs the program in a folder with its own temporary folder.
func runIn(t *testing.T, dir, temp string, args ...string) (output string, err error) {
	t.Helper()
	o := tooltest.Order{Args: append([]string{"samestep"}, args...), Dir: dir, Env: append(os.Environ(), "TMPDIR="+temp, "XDG_CACHE_HOME="+filepath.Join(temp, "cache"))}
	done := make(chan struct{})
	var result tooltest.Result
	go func() {
		defer close(done)
		result, err = o.Run()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%v: still waits after %v", args, patience)
	}
	if err == nil && result.Code != console.ExitOK {
		err = fmt.Errorf("exit code %d", result.Code)
	}
	return result.Stdout + result.Stderr, err
}

// Every verb that reads a replay or a bundle rejects a pipe at once.
func TestPipesAreRefused(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "PIPE"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalPKCS8PrivateKey(key)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "KEY"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b}), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile("../../../testdata/replays/duel.ssr")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "REPLAY"), golden, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := []string{
		"desync explain PIPE", "audit PIPE", "simulate --artifact PIPE",
		"replay info PIPE", "replay verify PIPE", "replay verify --follow PIPE", "replay dump PIPE", "replay follow PIPE", "replay feed --viewer player:0 PIPE",
		"replay watch --once PIPE", "replay seek PIPE --tick 1", "replay step --tick 1 PIPE", "replay debug --tick 1 PIPE", "replay profile PIPE", "replay diff PIPE PIPE", "replay bisect PIPE PIPE", "replay seal PIPE OUT", "replay sign --key KEY PIPE OUT",
		"replay cut --tick 1 PIPE OUT", "replay rekey --every 1 PIPE OUT", "replay recover PIPE OUT", "replay export PIPE", "replay attach --none PIPE OUT", "rules inspect PIPE", "rules check PIPE", "rules add --dir STORE PIPE",
		"replay verify --rules PIPE KEY", "replay bisect --other PIPE KEY", "replay seal --with-rules PIPE REPLAY OUT",
	}
	for _, sub := range replays.ReplayCommand(serving.ReplayIndexCommand()).Subcommands {
		listed := slices.ContainsFunc(all, func(line string) bool { return strings.HasPrefix(line, "replay "+sub.Name+" ") })
		if !listed && sub.Name != "import" && sub.Name != "index" { // lines of another engine, maybe through a pipe; a folder
			t.Errorf("replay %s is not tried", sub.Name)
		}
	}
	for _, line := range all {
		out, err := runIn(t, dir, dir, strings.Fields(line)...)
		if err == nil || !strings.Contains(out, "PIPE: got a pipe, want a regular file") {
			t.Errorf("%s: got %v, %q", line, err, out)
		}
	}
}

// Links and folders that another user planted in the demo's output folder do not redirect it to the user's files.
func TestPlantedLinks(t *testing.T) {
	t.Parallel()
	dir, temp, victims := t.TempDir(), t.TempDir(), t.TempDir()
	victim := func(name string) string {
		t.Helper()
		path := filepath.Join(victims, name)
		if err := os.WriteFile(path, []byte("precious"), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// In the temporary folder under the name of an earlier demo, and in a folder that the user names.
	planted := filepath.Join(temp, "samestep-demo")
	if err := errors.Join(os.Mkdir(planted, 0o777), os.Symlink(victim("a"), filepath.Join(planted, "minimal.ssr"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"minimal.ssr", "minimal-desync-40-player1.zip", "minimal-desync-40-player1.html"} {
		if err := os.Symlink(victim(name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	demo := []string{"demo", "--game", "minimal", "--seconds", "2", "--players", "2", "--seed", "7"}
	for _, args := range [][]string{demo, append(demo, "--dir", dir)} {
		if out, err := runIn(t, dir, temp, args...); err != nil {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
	left, err := os.ReadDir(victims)
	if err != nil || len(left) != 4 {
		t.Fatalf("got %d victims, %v, want 4", len(left), err)
	}
	for _, e := range left {
		if b, err := os.ReadFile(filepath.Join(victims, e.Name())); string(b) != "precious" {
			t.Errorf("%s was overwritten: %v", e.Name(), err)
		}
	}
	// Only the user can read the demo's files.
	fresh, err := filepath.Glob(filepath.Join(temp, "samestep-demo-*"))
	if err != nil || len(fresh) != 1 {
		t.Fatalf("got the new folders %v, %v, want one", fresh, err)
	}
	if info, err := os.Lstat(fresh[0]); err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("%s: got %v, %v, want mode 0700", fresh[0], info.Mode(), err)
	}
	for _, folder := range []string{fresh[0], dir} {
		private(t, folder, "minimal.ssr", "minimal-desync-40-player1.zip", "minimal-desync-40-player1.html")
	}
}

// private requires that files are regular and that only their owner can read them.
func private(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: got %v, %v, want a file of mode 0600", name, info, err)
		}
	}
}

// The output files of verbs are private.
func TestWrittenFilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := runIn(t, dir, dir, "demo", "--game", "minimal", "--seconds", "2", "--players", "2", "--dir", dir); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, args := range [][]string{
		{"seal", "minimal.ssr", "sealed.ssr"}, {"export", "--to", "mcap", "minimal.ssr", "out.mcap"}, {"dump", "--tick", "1", "--raw", "state", "minimal.ssr"},
	} {
		if out, err := runIn(t, dir, dir, append([]string{"replay"}, args...)...); err != nil {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
	private(t, dir, "minimal.ssr", "sealed.ssr", "out.mcap", "state")
}

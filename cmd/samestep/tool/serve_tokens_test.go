//go:build unix && !js

package tool

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/server"
)

// SIGHUP reloads the list of tokens. An invalid list changes nothing.
func TestReloadOnHangup(t *testing.T) {
	const ada, bob = "player - ada - ada-ada-ada-ada-ada\n", "player - bob - bob-bob-bob-bob-bob\n"
	path := filepath.Join(t.TempDir(), "tokens")
	write := func(list string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(ada)
	tokens, err := server.ReadTokens(strings.NewReader(ada))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{Authorizer: tokens})
	if err != nil {
		t.Fatal(err)
	}
	f := &tokenFile{path, tokens}
	files := reloader{newReloadable("tokens", f.reload, path)}
	stop := files.watch(s, slog.New(slog.DiscardHandler), time.Hour)
	defer func() { stop() }()
	knows := func(token string) bool {
		_, err := tokens.Authorize(token, "")
		return err == nil
	}
	write(bob)
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); !knows("bob-bob-bob-bob-bob"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the list was not read again")
		}
	}
	if knows("ada-ada-ada-ada-ada") {
		t.Error("a token that is not in the list any more is still good")
	}
	write("nonsense")
	if err := f.reload(s, slog.New(slog.DiscardHandler)); err == nil || !knows("bob-bob-bob-bob-bob") {
		t.Errorf("a list that is none: got %v, and the one before holds: %t", err, knows("bob-bob-bob-bob-bob"))
	}
	stop()
	said := make(lines, 1)
	stop = reloader(nil).watch(s, slog.New(slog.NewTextHandler(said, nil)), time.Hour)
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil { // which would end the tests
		t.Fatal(err)
	}
	select {
	case line := <-said:
		if !strings.Contains(line, "no --settings, --tokens") {
			t.Errorf("without a file a SIGHUP is answered with %q", line)
		}
	case <-time.After(30 * time.Second):
		t.Error("without a file a SIGHUP is not answered")
	}
}

// Drawn tokens go to a file that only the user can read, and not into an output that others may keep. They open their
// seats again after a restart.
func TestDrawnTokens(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "matches")
	start := func(flags ...string) *served {
		return serveInTest(t, append([]string{"--players", "2", "--config", `{"Units":100}`, "--dir", dir, "--resume"}, flags...)...)
	}
	path := filepath.Join(dir, "tokens.txt")
	read := func() string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := start("--set", "print-tokens=false")
	if len(first.tokens) > 0 {
		t.Errorf("it has printed the tokens of %d people", len(first.tokens))
	}
	drawn := read()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want mode 0600", info.Mode(), err)
	}
	if n := strings.Count(drawn, "\n"); n != 4 {
		t.Errorf("got %d tokens, want those of two players, a spectator and an admin:\n%s", n, drawn)
	}
	first.stop()
	second := start("--matches", "2")
	if now := read(); !strings.HasPrefix(now, drawn) || strings.Count(now, "\n") != 6 {
		t.Errorf("after a restart with another match: got\n%s\nwant the tokens before and two more:\n%s", now, drawn)
	}
	second.tokens["player-0"] = strings.Fields(drawn)[4] // of match-1
	if sum, code := joinInTest(t, second, "player-0", "--for", "1s", "--retry", "1m"); code != console.ExitOK || sum.Seat != 0 {
		t.Errorf("a player with a token of the first start: %+v, exit code %d", sum, code)
	}
}

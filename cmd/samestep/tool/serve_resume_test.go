//go:build unix && !solaris && !aix && !js

package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/replay"
)

// A server that was killed or interrupted resumes its match when it is started again. While it runs, no other server can
// resume the match.
func TestServeResumes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tokens := filepath.Join(t.TempDir(), "tokens")
	const list = "player 0 ann - ann-ann-ann-ann-ann\nplayer 1 bob - bob-bob-bob-bob-bob\nadmin - ops - ops-ops-ops-ops-ops-ops\n"
	if err := os.WriteFile(tokens, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	// Neither a pipe, on which an open waits, nor a link is resumed as a match.
	live := filepath.Join(dir, "live")
	if err := errors.Join(os.Mkdir(live, 0o700), syscall.Mkfifo(filepath.Join(live, "pipe.ssr"), 0o666), os.Symlink("pipe.ssr", filepath.Join(live, "link.ssr"))); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--players", "2", "--config", oneTeam(t, 100), "--tick-rate", "50", "--set", "web=false", "--dir", dir, "--tokens", tokens, "--durability", "frame", "--resume"}
	first := tooltest.Serve(t, flags...)
	first.Tokens["ann"] = "ann-ann-ann-ann-ann"
	before := playInTest(t, first, 0)
	other := tooltest.Serve(t, flags...)
	if status := pageStatus(t, other.URL+"/matches/match-1"); status != http.StatusNotFound {
		t.Errorf("another server answers for the match with %d", status)
	}
	if code := other.Stop(); code != console.ExitOK || !strings.Contains(other.Stderr.String(), "another program is writing it") {
		t.Errorf("another server exited with %d: %s", code, other.Stderr.String())
	}
	first.Kill()
	second := tooltest.Serve(t, flags...)
	second.Tokens["ann"] = first.Tokens["ann"]
	after := playInTest(t, second, before.Tick)
	if after.Seat != 0 || after.Differing > 0 {
		t.Errorf("ann came back: %+v, before %+v", after, before)
	}
	if code := second.Stop(); code != console.ExitOK {
		t.Errorf("the server exited with %d: %s", code, second.Stderr.String())
	}
	third := tooltest.Serve(t, flags...)
	third.Tokens["ann"] = first.Tokens["ann"]
	if again := playInTest(t, third, after.Tick); again.Seat != 0 || again.Differing > 0 {
		t.Errorf("ann came back after an interrupt: %+v, before %+v", again, after)
	}
	third.End(t, "ops-ops-ops-ops-ops-ops")
	if code := third.Stop(); code != console.ExitOK {
		t.Errorf("the server exited with %d: %s", code, third.Stderr.String())
	}
	replays, _ := filepath.Glob(filepath.Join(dir, "match*"))
	if len(replays) != 1 {
		t.Fatalf("got %v, want one replay", replays)
	}
	var out, errs bytes.Buffer
	if code := tooltest.Execute([]string{"replay", "verify", replays[0]}, &out, &errs); code != console.ExitOK {
		t.Errorf("verify exited with %d: %s%s", code, out.String(), errs.String())
	}
}

// playInTest lets ann join until she has seen a tick after a given one, however slow the machine is.
func playInTest(t *testing.T, s *tooltest.Server, after lockstep.Tick) tooltest.Summary {
	t.Helper()
	awaitResumed(t, s)
	for {
		sum, code := s.Join(t, "ann", "--time", "700ms")
		if code != console.ExitOK {
			t.Fatalf("ann exited with %d: %+v", code, sum)
		}
		if sum.Tick > after {
			return sum
		}
	}
}

// oneTeam returns the path of a configuration with one team, in which nobody wins when a player leaves.
func oneTeam(t *testing.T, units int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, fmt.Appendf(nil, `{"Teams": 1, "Units": %d}`, units), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// awaitResumed waits until the match of a server runs. Before, its log is still that of the server that was killed.
func awaitResumed(t *testing.T, s *tooltest.Server) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); pageStatus(t, s.URL+"/matches/match-1") != http.StatusOK; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the match is not resumed: %s", s.Stderr.String())
		}
	}
}

// pageStatus returns the status of a page.
func pageStatus(t *testing.T, url string) int {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// A server does not resume the log of another build. It says so, leaves the log alone, and starts no other match of that
// name.
func TestServeOtherBuild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := os.ReadFile(oldReplay(t))
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.json")
	log := filepath.Join(dir, "live", "match-1-01234567.ssr")
	if err := errors.Join(os.Mkdir(filepath.Dir(log), 0o700), os.WriteFile(log, b[:len(b)-20], 0o600), os.WriteFile(config, []byte(`{"Size":20,"Coins":9}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	var errs bytes.Buffer
	code := make(chan int, 1)
	go func() {
		args := []string{"mygame", "serve", "--listen", "127.0.0.1:0", "--players", "2", "--matches", "2", "--set", "web=false", "--dir", dir, "--resume", "--config", config}
		code <- Run(ctx, args, w, &errs, New(newerRules("2")))
		w.Close()
	}()
	url := ""
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if strings.Contains(lines.Text(), " match-1 ") {
			t.Errorf("it has tokens of match-1: %s", lines.Text())
		}
		if at, found := strings.CutPrefix(lines.Text(), "listening on "); found {
			url = at
			break
		}
	}
	if url == "" {
		t.Fatalf("it does not listen: %s", errs.String())
	}
	go io.Copy(io.Discard, r)
	for name, want := range map[string]int{"match-1": http.StatusNotFound, "match-2": http.StatusOK} {
		if status := pageStatus(t, url+"/matches/"+name); status != want {
			t.Errorf("%s: got status %d, want %d", name, status, want)
		}
	}
	cancel()
	if got := <-code; got != console.ExitOK {
		t.Errorf("it exited with %d: %s", got, errs.String())
	}
	if text := errs.String(); !strings.Contains(text, `msg="match not resumed" match=match-1`) || !strings.Contains(text, "other build: got 1, want 2") {
		t.Errorf("got the log %s", text)
	}
	if now, err := os.ReadFile(log); err != nil || !bytes.Equal(now, b[:len(b)-20]) {
		t.Errorf("the log has changed: %v", err)
	}
}

// --check-config names each match that a start could not resume, and changes nothing.
func TestCheckConfigResumes(t *testing.T) {
	b, err := os.ReadFile(oldReplay(t))
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(config, []byte(`{"Size":20,"Coins":9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	first, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	id := first.Header.Match.String()[:8]
	for _, row := range []struct {
		name, build, want string
		log               []byte
	}{
		{"match-1-" + id + ".ssr", "1", "ok\n", b[:len(b)-20]},
		{"match-1-" + id + ".ssr", "2", "match match-1 cannot be resumed: ", b[:len(b)-20]},
		{"match-1-" + id + ".ssr", "2", "other build: got 1, want 2", b[:len(b)-20]},
		{"cup-01234567.ssr", "1", "match cup cannot be resumed: ", b[:len(b)-20]},
		{"cup-01234567.ssr", "1", "want NAME-" + id + ".ssr", b[:len(b)-20]},
		{"match-1-" + id + ".ssr", "2", "ok\n", b[:20]}, // it never began
		{"match-1-" + id + ".txt", "2", "ok\n", b},
	} {
		dir := t.TempDir()
		live := filepath.Join(dir, "live")
		if err := errors.Join(os.Mkdir(live, 0o700), os.WriteFile(filepath.Join(live, row.name), row.log, 0o600)); err != nil {
			t.Fatal(err)
		}
		rules := minimal.Rules()
		if row.build != "1" {
			rules = newerRules(row.build)
		}
		var out bytes.Buffer
		args := []string{"mygame", "serve", "--check-config", "--players", "2", "--set", "web=false", "--dir", dir, "--resume", "--config", config}
		code := Run(t.Context(), args, &out, &out, New(rules))
		if (code == console.ExitOK) != (row.want == "ok\n") || !strings.Contains(out.String(), row.want) {
			t.Errorf("%s, build %s: got exit code %d and %q, want %q", row.name, row.build, code, out.String(), row.want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("it leaves %v, %v", left, err)
		}
		if now, err := os.ReadFile(filepath.Join(live, row.name)); err != nil || !bytes.Equal(now, row.log) {
			t.Errorf("the log has changed: %v", err)
		}
	}
}

// --check-config finds bans and revocations with which a start would refuse to admit anybody.
func TestCheckConfigDenials(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, value, want string }{
		{"revocation-0123456789abcdef0123456789abcdef.json", `{"name":`, "revocation-0123456789abcdef0123456789abcdef.json: unexpected end of JSON input; repair or remove it"},
		{"bans-0123456789abcdef0123456789abcdef.json", `[{"name":"ada"}]`, "ok\n"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "denials", row.name)
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(row.value), 0o600)); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		code := Run(t.Context(), []string{"mygame", "serve", "--check-config", "--set", "web=false", "--matches", "0", "--dir", dir}, &out, &out, New(minimal.Rules()))
		if (code == console.ExitOK) != (row.want == "ok\n") || !strings.Contains(out.String(), row.want) {
			t.Errorf("%s: got exit code %d and %q, want %q", row.name, code, out.String(), row.want)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != row.value {
			t.Errorf("%s has changed: %q, %v", row.name, b, err)
		}
	}
}

// With drain an interrupted server is not ready and serves its matches until they are over.
func TestServeDrains(t *testing.T) {
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens")
	const list = "player 0 ann - ann-ann-ann-ann-ann\nplayer 1 bob - bob-bob-bob-bob-bob\nadmin - ops - ops-ops-ops-ops-ops-ops\n"
	if err := os.WriteFile(tokens, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	s := tooltest.Serve(t, "--players", "2", "--config", `{"Units":100}`, "--dir", t.TempDir(), "--tokens", tokens, "--set", "drain=10m")
	if status := pageStatus(t, s.URL+"/readyz"); status != http.StatusOK { // it has begun to listen for signals
		t.Fatalf("readyz: got %d", status)
	}
	exit := make(chan int, 1)
	go func() { exit <- s.Stop() }()
	for deadline := time.Now().Add(time.Minute); pageStatus(t, s.URL+"/readyz") != http.StatusServiceUnavailable; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it is still ready")
		}
	}
	if status := pageStatus(t, s.URL+"/matches/match-1"); status != http.StatusOK {
		t.Errorf("the match: got status %d", status)
	}
	s.End(t, "ops-ops-ops-ops-ops-ops")
	if code := <-exit; code != console.ExitOK {
		t.Errorf("the server exited with %d: %s", code, s.Stderr.String())
	}
}

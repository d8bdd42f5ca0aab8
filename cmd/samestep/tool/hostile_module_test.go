//go:build linux

package tool

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/internal/testing/hostile"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/server"
)

// What a verb may take for a hostile module, with the program of the tests.
const (
	hostileTime   = 20 * time.Second
	hostileMemory = 300 << 20
)

// Each verb ends soon on each hostile module, without much memory, with exit code 4 and a sentence.
func TestHostileModules(t *testing.T) {
	inEmptyCache(t)
	for _, m := range hostile.Catalogue {
		t.Run(m.Name, func(t *testing.T) {
			switch m.Name {
			case "loops", "grow", "answers":
			case "functions", "passes", "tables", "storm", "forever":
				testenv.Night(t) // each takes a core for up to a minute
			default:
				testenv.Long(t)
			}
			for _, verb := range hostileVerbs(t, m.Bytes(), m.AtOnce()) {
				said, took, memory, code := measured(t, verb)
				t.Logf("%-8s %5.1f s %4d MiB exit %d %.200s", verb[0]+" "+verb[1], took.Seconds(), memory>>20, code, said)
				if code != exitCorrupt || took > hostileTime || memory > hostileMemory {
					t.Errorf("%s: got exit code %d after %v with %d MiB, want %d within %v and %d MiB: %s", verb, code, took, memory>>20, exitCorrupt, hostileTime, hostileMemory>>20, said)
				}
				if lines := strings.Count(strings.TrimSpace(said), "\n") + 1; lines > 3 || !strings.Contains(said, "samestep: ") || strings.Contains(said, "goroutine ") {
					t.Errorf("%s: got %.500s, want a sentence", verb, said)
				}
			}
		})
	}
}

// Control: the verbs do their work with a module that does no harm.
func TestHarmlessModule(t *testing.T) {
	inEmptyCache(t)
	module := hostile.Harmless()
	for i, verb := range hostileVerbs(t, module, module) {
		want := []int{exitOK, exitDesync, exitDesync, exitOK, exitOK}[i]
		if verb[0] == "join" {
			verb[len(verb)-1] = "200ms"
		}
		if said, took, memory, code := measured(t, verb); code != want || took > hostileTime || memory > hostileMemory {
			t.Errorf("%s: got exit code %d after %v with %d MiB, want %d: %s", verb, code, took, memory>>20, want, said)
		}
	}
}

// hostileVerbs returns the command lines for a module: in a replay, a bundle, and on a server; and in a file for one that acts at once.
func hostileVerbs(t *testing.T, module, atOnce []byte) [][]string {
	t.Helper()
	dir := t.TempDir()
	file := func(name string, b []byte, err error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err == nil {
			err = os.WriteFile(path, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	match, err := hostile.Replay(module, 200)
	match1 := file("match.ssr", match, err)
	bundle, err := hostile.Bundle(module, 200)
	return [][]string{
		{"replay", "verify", match1},
		{"replay", "bisect", "--player", "0", match1},
		{"desync", "explain", file("match.zip", bundle, err)},
		{"rules", "inspect", file("rules.wasm", atOnce, nil)},
		{"join", hostileServer(t, module), "--token-file", file("token", []byte("token-of-player-0"), nil), "--for", "1m"},
	}
}

// hostileServer serves a match of the native rules and names the module as its rules. It returns the URL of the match.
func hostileServer(t *testing.T, module []byte) string {
	t.Helper()
	tokens, err := server.ReadTokens(strings.NewReader("player 0 ada match token-of-player-0"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{
		Authorizer: tokens, Log: slog.New(slog.DiscardHandler),
		Rules:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(module) }),
		RulesOf: func(*lockstep.Game) string { return sumOf(module) },
	})
	if err != nil {
		t.Fatal(err)
	}
	g, config := hostile.Native()
	if _, err := s.Create(server.MatchSpec{Name: "match", Game: g, Settings: lockstep.DefaultSettings(1), Config: config}); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return web.URL + "/matches/match"
}

// measured runs the program, and returns what it said, and the largest memory of it or the process that it started.
func measured(t *testing.T, args []string) (said string, took time.Duration, memory int64, code int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Args[0] = "measured" // TestMain goes by the name
	var out, numbers bytes.Buffer
	c.Stdout, c.Stderr = &numbers, &out
	from := time.Now()
	err := c.Run()
	if n, _ := fmt.Sscan(numbers.String(), &memory, &code); n != 2 {
		t.Fatal(fmt.Errorf("%q: %w: %s%s", args, err, &numbers, &out))
	}
	return out.String(), time.Since(from), memory << 10, code
}

func init() { moreCommands["measured"] = measuredMain }

// measuredMain runs the program, and prints its memory and its exit code. The kernel counts the memory of a process for the one that it
// starts, so a small process starts the program.
func measuredMain() {
	c := exec.Command(os.Args[0], os.Args[1:]...)
	c.Path, c.Args[0], c.Err = "/proc/self/exe", "samestep", nil
	c.Stderr = os.Stderr
	c.Run()
	if c.ProcessState == nil {
		os.Exit(1)
	}
	fmt.Println(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss, c.ProcessState.ExitCode())
	os.Exit(0)
}

// An interrupt of the program ends it within a second while another process compiles, and that process, too.
func TestInterruptedCompiling(t *testing.T) {
	inEmptyCache(t)
	path := filepath.Join(t.TempDir(), "rules.wasm")
	if err := os.WriteFile(path, hostile.Named("functions").Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "rules", "inspect", path)
	c.Args[0] = "samestep"
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	child := ""
	for until := time.Now().Add(10 * time.Second); child == "" && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		child = childOf(c.Process.Pid)
	}
	if child == "" {
		t.Fatal("no process compiles")
	}
	from := time.Now()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	for took := time.Duration(0); took < 5*time.Second; took = time.Since(from) {
		if !runs(child) {
			if took > time.Second {
				t.Logf("the processes ended after %v, want a second on a quiet machine", took)
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is still compiling after 5 s, want it to end with the program", child)
}

// childOf returns the folder in /proc of a process that another one has started, or "".
func childOf(parent int) string {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		if _, of := stateOf(p); of == parent {
			return p
		}
	}
	return ""
}

// runs reports whether a process has not ended.
func runs(process string) bool {
	state, _ := stateOf(process)
	return state != "" && state != "Z"
}

// stateOf returns the state of a process, and its parent.
func stateOf(process string) (state string, parent int) {
	b, _ := os.ReadFile(filepath.Join(process, "stat"))
	fmt.Sscan(string(b[bytes.LastIndexByte(b, ')')+1:]), &state, &parent)
	return state, parent
}

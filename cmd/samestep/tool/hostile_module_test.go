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
	"testing"
	"time"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/hostile"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/server"
)

// What a verb may take for a hostile module, with the program of the tests.
const (
	hostileTime   = 20 * time.Second // of the processors: others may have them, too
	hostileMemory = 300 << 20
)

// Each verb ends soon on each hostile module, without much memory, with exit code 4 and a sentence.
func TestHostileModules(t *testing.T) {
	tooltest.InEmptyCache(t)
	for _, m := range hostile.Catalogue {
		t.Run(m.Name, func(t *testing.T) {
			switch m.Name {
			case "loops":
			case "functions", "passes", "tables", "storm", "forever":
				testenv.Night(t) // each takes a core for up to a minute
			default:
				testenv.Long(t)
			}
			for _, verb := range hostileVerbs(t, m.Bytes(), m.AtOnce()) {
				endsHostile(t, verb, hostileTime)
			}
		})
	}
}

// endsHostile runs a verb on a hostile module, which it has to give up within some time.
func endsHostile(t *testing.T, verb []string, most time.Duration) (said string) {
	t.Helper()
	said, took, memory, code := measured(t, verb)
	t.Logf("%-8s %5.1f s %4d MiB exit %d %.200s", verb[0]+" "+verb[1], took.Seconds(), memory>>20, code, said)
	if code != console.ExitCorrupt || took > most || memory > hostileMemory {
		t.Errorf("%s: got exit code %d after %v with %d MiB, want %d within %v and %d MiB: %s", verb, code, took, memory>>20, console.ExitCorrupt, most, hostileMemory>>20, said)
	}
	if lines := strings.Count(strings.TrimSpace(said), "\n") + 1; lines > 3 || !strings.Contains(said, "samestep: ") || strings.Contains(said, "goroutine ") {
		t.Errorf("%s: got %.500s, want a sentence", verb, said)
	}
	return said
}

// The search for a function counts what it traces in the budget, too. Comparing the calls takes time of its own.
func TestHostileTrace(t *testing.T) {
	testenv.Long(t)
	tooltest.InEmptyCache(t)
	verb := hostileVerbs(t, hostile.Parting(), nil)[3]
	if said := endsHostile(t, verb, 2*hostileTime); !strings.Contains(said, "longer than 15s: more with --module-time") {
		t.Errorf("got %q, want that the time is over", said)
	}
}

// Control: the verbs do their work with a module that does no harm.
func TestHarmlessModule(t *testing.T) {
	tooltest.InEmptyCache(t)
	module := hostile.Harmless()
	for i, verb := range hostileVerbs(t, module, module) {
		want := []int{console.ExitOK, console.ExitDesync, console.ExitDesync, console.ExitOK, console.ExitOK, console.ExitOK}[i]
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
		{"desync", "line", match1},
		{"rules", "inspect", file("rules.wasm", atOnce, nil)},
		{"join", hostileServer(t, module), "--token", "@" + file("token", []byte("token-of-player-0"), nil), "--time", "1m"},
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
		RulesOf: func(*lockstep.Game) string { return tooltest.SumOf(module) },
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

// measured runs the program outside of any module of Go, and returns what it said, and the time and the largest memory
// of it and the processes that it started, together.
func measured(t *testing.T, args []string) (said string, took time.Duration, memory int64, code int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	c.Args[0], c.Dir = "samestep", t.TempDir() // TestMain goes by the name
	var out bytes.Buffer
	c.Stderr = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	process, ended := fmt.Sprintf("/proc/%d", c.Process.Pid), make(chan struct{})
	go func() {
		c.Wait()
		close(ended)
	}()
	for running := true; running; {
		memory = max(memory, memoryOf(process))
		select {
		case <-ended:
			running = false
		case <-time.After(5 * time.Millisecond):
		}
	}
	return out.String(), c.ProcessState.UserTime() + c.ProcessState.SystemTime(), memory, c.ProcessState.ExitCode()
}

// memoryOf returns the memory of a process and those that it has started, now and together, in bytes; or the most that one has had, if
// that is more.
func memoryOf(process string) (size int64) {
	most := int64(0)
	for _, p := range append(childrenOf(process), process) {
		b, _ := os.ReadFile(filepath.Join(p, "status")) // without a memory once it has ended
		for line := range strings.Lines(string(b)) {
			var kib int64
			if n, _ := fmt.Sscanf(line, "VmRSS: %d", &kib); n == 1 {
				size += kib << 10
			}
			if n, _ := fmt.Sscanf(line, "VmHWM: %d", &kib); n == 1 {
				most = max(most, kib<<10)
			}
		}
	}
	return max(size, most)
}

// An interrupt of the program ends it within a second while another process compiles, and that process, too.
func TestInterruptedCompiling(t *testing.T) {
	tooltest.InEmptyCache(t)
	path := filepath.Join(t.TempDir(), "rules.wasm")
	if err := os.WriteFile(path, hostile.Named("functions").Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "rules", "inspect", path)
	c.Args[0] = "samestep"
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var child []string
	for until := time.Now().Add(10 * time.Second); len(child) == 0 && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		child = childrenOf(fmt.Sprintf("/proc/%d", c.Process.Pid))
	}
	if len(child) == 0 {
		t.Fatal("no process compiles")
	}
	from := time.Now()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	for took := time.Duration(0); took < 5*time.Second; took = time.Since(from) {
		if !runs(child[0]) {
			if took > time.Second {
				t.Logf("the processes ended after %v, want a second on a quiet machine", took)
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is still compiling after 5 s, want it to end with the program", child[0])
}

// An interrupt ends a call of a module under desync line, not only the search after it.
func TestInterruptedLine(t *testing.T) {
	tooltest.InEmptyCache(t)
	module := hostile.Named("storm").Bytes() // a call of 10 s
	c := exec.CommandContext(t.Context(), "/proc/self/exe", hostileVerbs(t, module, module)[3]...)
	var out bytes.Buffer
	c.Args[0], c.Dir, c.Stderr = "samestep", t.TempDir(), &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); processorTime(c.Process.Pid) < 250*time.Millisecond && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	from := time.Now()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	if took := time.Since(from); took > 5*time.Second {
		t.Errorf("got the end after %v, want a second on a quiet machine: %s", took, &out)
	}
	if code := c.ProcessState.ExitCode(); code != console.ExitError || !strings.Contains(out.String(), "interrupt") && !strings.Contains(out.String(), "cancel") {
		t.Errorf("got exit code %d and %q, want that it was interrupted", code, &out)
	}
}

// processorTime returns the time that a process has had.
func processorTime(process int) (all time.Duration) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", process))
	for _, t := range tasks {
		b, _ := os.ReadFile(t) // empty once it has ended
		var ns int64
		fmt.Sscan(string(b), &ns)
		all += time.Duration(ns)
	}
	return all
}

// childrenOf returns the folders in /proc of the processes that another one has started.
func childrenOf(parent string) (children []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		if _, of := stateOf(p); fmt.Sprintf("/proc/%d", of) == parent {
			children = append(children, p)
		}
	}
	return children
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

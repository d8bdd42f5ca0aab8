//go:build !js

package tool

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// The page, its program and the matches are served on one port.
func TestServePage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles the page's program")
	}
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	s := tooltest.Serve(t, "--set", "web=true", "--matches", "1", "--dir", t.TempDir())
	status, index, kind := tooltest.Fetch(t, s.URL+"/")
	for strings.Contains(index, "being built") {
		status, index, kind = tooltest.Fetch(t, s.URL+"/")
	}
	script := regexp.MustCompile(`"(/page/[0-9a-f]{16}/)wasm_exec\.js"`).FindStringSubmatch(index)
	if status != http.StatusOK || kind != "text/html; charset=utf-8" || script == nil {
		t.Fatalf("the page: got %d %s %s", status, kind, index)
	}
	for _, row := range []struct{ path, kind, begins string }{
		{script[1] + "skirmish.wasm", "application/wasm", "\x00asm"},
		{script[1] + "wasm_exec.js", "text/javascript; charset=utf-8", "//"},
		{"/matches", "application/json", `[{"name":"match-1"`},
		{"/replays", "application/json", `[]`},
		{"/healthz", "text/plain; charset=utf-8", "ok"},
	} {
		if status, body, kind := tooltest.Fetch(t, s.URL+row.path); status != http.StatusOK || kind != row.kind || !strings.HasPrefix(body, row.begins) {
			t.Errorf("%s: got %d %s and %d bytes", row.path, status, kind, len(body))
		}
	}
}

// The web demo prints its address, lets its visitor begin other matches, and plays until it is interrupted.
func TestWebDemo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles the page's program")
	}
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	var stderr strings.Builder
	exit := make(chan int, 1)
	go func() {
		code := tooltest.Process(ctx, os.Args[0], []string{"demo", "--web", "--listen", "127.0.0.1:0", "--players", "2", "--config", `{"Units":100}`, "--dir", t.TempDir()}, w, &stderr)
		w.Close()
		exit <- code
	}()
	var url string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if words := strings.Fields(lines.Text()); words[0] == "lobby" {
			url = words[1]
			break
		}
	}
	go io.Copy(io.Discard, r)
	if url == "" {
		t.Fatalf("the demo exited with %d: %s", <-exit, stderr.String())
	}
	_, body, _ := tooltest.Fetch(t, url)
	for strings.Contains(body, "being built") {
		_, body, _ = tooltest.Fetch(t, url)
	}
	if status, body, _ := tooltest.Fetch(t, url); status != http.StatusOK || !strings.Contains(body, "skirmish") && !strings.Contains(body, "Skirmish") {
		t.Errorf("the page: got %d %s", status, body)
	}
	if _, body, _ := tooltest.Fetch(t, url+"matches"); !strings.Contains(body, `"name":"demo"`) || !strings.Contains(body, `"players":3`) {
		t.Errorf("the matches: got %s", body)
	}
	again, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"matches", strings.NewReader( // as the page asks for a rematch
		`{"name":"demo.2","game":"skirmish","players":3,"tick_rate":20,"seed":7,"bots":2,"config":{"Crystals":77}}`))
	if err != nil {
		t.Fatal(err)
	}
	again.Header.Set("Authorization", "Bearer guest:you:a-secret-of-the-page")
	answer, err := http.DefaultClient.Do(again)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusCreated || strings.Count(string(body), `"state":"bot"`) != 2 {
		t.Errorf("a rematch: got %s %s", answer.Status, body)
	}
	cancel()
	if code := <-exit; code != console.ExitOK {
		t.Errorf("the demo exited with %d: %s", code, stderr.String())
	}
}

// Without a toolchain the page names the missing program, and the server keeps running.
func TestServeWithoutToolchain(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var log strings.Builder
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "next") })
	h := serving.PageOver(games[0], flagless(games), next, slog.New(slog.NewTextHandler(&log, nil)))
	for path, want := range map[string]string{"/": "no Go toolchain", "/matches": "next"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: got %q, want %q", path, w.Body.String(), want)
		}
	}
	if !strings.Contains(log.String(), "no Go toolchain") {
		t.Errorf("the log says %q", log.String())
	}
}

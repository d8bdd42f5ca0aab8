//go:build !js

package tool

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/browser"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/page/canvas"
	"github.com/seed-49bee653/samestep/page/input"
)

// A game without a page of its own is served with the inspector page, whose program is the main of this program, compiled.
// TestInspectorPage has it with a program that was compiled before.
func TestServeInspector(t *testing.T) {
	testenv.Long(t)
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	s := tooltest.Serve(t, "--set", "web=true", "--game", "minimal", "--matches", "1", "--players", "2", "--dir", t.TempDir())
	servesInspector(t, s.URL)
}

// On the page of platforms, keys move the player's unit: it walks while an arrow is held, stands when it is released, and jumps.
func TestKeysInPage(t *testing.T) {
	testenv.Long(t)
	browser.Needs(t)
	s := tooltest.Serve(t, "--set", "web=true", "--game", "platforms", "--matches", "1", "--players", "1", "--dir", t.TempDir())
	for _, index, _ := tooltest.Fetch(t, s.URL+"/"); strings.Contains(index, "being built"); {
		_, index, _ = tooltest.Fetch(t, s.URL+"/")
	}
	b := browser.Open(t, s.URL+"/#/play/match-1?token="+s.Tokens["player-0"])
	b.Until(browser.Inspected)
	// The unit is the last rectangle of the picture: left, bottom, right and top. It falls on the platform at first, and its walk may end on the floor.
	const unit = `[...page.inspection.chart.picture].slice(-4)`
	b.Until(unit + `[1] === -4600`)
	b.Hold("ArrowRight", unit+`[0] > 4100`)
	b.Until(`((now) => now === globalThis.last ? ++globalThis.times > 10 : (globalThis.last = now, globalThis.times = 0))(` + unit + `.join())`)
	browser.Value[bool](b, `globalThis.ground = `+unit+`[1], true`)
	b.Hold("ArrowUp", unit+`[1] < globalThis.ground`)
	b.Agree(1)
	b.NeverDiffered()
}

// A drawing function must be of the game's state.
func TestDraw(t *testing.T) {
	if g := New(minimal.Rules(), Draw(func(*canvas.Canvas, *minimal.World) {})); g.err != nil {
		t.Error(g.err)
	}
	g := New(minimal.Rules(), Draw(func(*canvas.Canvas, *minimal.Dot) {}))
	if g.err == nil || !strings.Contains(g.err.Error(), "minimal.Dot, want minimal.World") {
		t.Errorf("got %v", g.err)
	}
}

// A handler of clicks must be of the game's state.
func TestInput(t *testing.T) {
	if g := New(minimal.Rules(), Input(input.Handler[minimal.World]{})); g.err != nil {
		t.Error(g.err)
	}
	g := New(minimal.Rules(), Input(input.Handler[minimal.Dot]{}))
	if g.err == nil || !strings.Contains(g.err.Error(), "minimal.Dot, want minimal.World") {
		t.Errorf("got %v", g.err)
	}
}

// The package main is found by its folder, and in a test it is that of the repository.
func TestMainPackage(t *testing.T) {
	if got := console.MainPackage(); got != console.Module+"/cmd/samestep" {
		t.Errorf("got %s", got)
	}
	defer func(old string) { console.MainFolder = old }(console.MainFolder)
	if console.MainFolder = t.TempDir(); console.MainPackage() != "." {
		t.Errorf("in a folder: got %s", console.MainPackage())
	}
}

// A quality is a level of brotli, and is compared before anything is built.
func TestPackQuality(t *testing.T) {
	for _, quality := range []string{"-1", "12"} {
		var out, errs bytes.Buffer
		code := tooltest.Execute([]string{"pack", "--quality=" + quality, filepath.Join(t.TempDir(), "wasm")}, &out, &errs)
		if want := "pack: --quality: got " + quality + ", want 0 to 11"; code != console.ExitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("got exit code %d and %s%s, want %q", code, &out, &errs, want)
		}
	}
}

// A game without a page of its own is served with the inspector page. Its program is that of the release, if there is one.
func TestInspectorPage(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var packed bytes.Buffer
	w := brotli.NewWriterLevel(&packed, 1)
	_, err := io.WriteString(w, "\x00asm")
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	Programs(fstest.MapFS{"wasm_exec.js": {Data: []byte("//")}, "inspector.wasm.br": {Data: packed.Bytes()}})
	defer Programs(nil)
	s := httptest.NewServer(serving.PageOver(games[1], flagless(games), http.NotFoundHandler(), slog.New(slog.DiscardHandler)))
	defer s.Close()
	servesInspector(t, s.URL)
	other := httptest.NewRecorder()
	serving.PageOver(games[0], flagless(games), http.NotFoundHandler(), slog.New(slog.DiscardHandler)).ServeHTTP(other, httptest.NewRequest(http.MethodGet, "/", nil))
	if !strings.Contains(other.Body.String(), "skirmish.wasm.br") {
		t.Errorf("a program that was not packed: got %s", other.Body)
	}
}

// servesInspector requires that a server has the inspector page and its program.
func servesInspector(t *testing.T, url string) {
	t.Helper()
	status, index, _ := tooltest.Fetch(t, url+"/")
	for strings.Contains(index, "being built") {
		status, index, _ = tooltest.Fetch(t, url+"/")
	}
	_, program, found := strings.Cut(index, `name="program" content="`)
	program, _, _ = strings.Cut(program, `"`)
	if status != http.StatusOK || !found || !strings.HasSuffix(program, "/inspector.wasm") {
		t.Fatalf("got %d %s", status, index)
	}
	if status, body, kind := tooltest.Fetch(t, url+program); status != http.StatusOK || kind != "application/wasm" || !strings.HasPrefix(body, "\x00asm") {
		t.Errorf("%s: got %d %s and %d bytes", program, status, kind, len(body))
	}
}

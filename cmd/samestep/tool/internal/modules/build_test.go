//go:build !js

package modules

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
	"github.com/seed-49bee653/samestep/lockstep"
	wasm "github.com/seed-49bee653/samestep/module"
)

// Packages that cannot become a module, and why.
func TestRulesBuildRefuses(t *testing.T) {
	for _, row := range []struct{ name, want string }{
		{"../../../../../cmd/samestep", "package main"},
		{"../../../../../fixed", "has no function Rules()"},
		{"../../../../../nowhere", "nowhere"},
	} {
		if _, err := findRules(t.Context(), row.name, "Usual"); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
}

// The faster form of a module is compared with the module itself: a wrong rewriting is found and the plain module kept, and a match
// that cannot be played is found, too.
func TestFasterIsCompared(t *testing.T) {
	testenv.Long(t)
	build := func(name string) (plain []byte, faster *gameset.Playable) {
		p, err := findRules(t.Context(), "../../../../../examples/"+name, "Usual")
		if err != nil {
			t.Fatal(err)
		}
		if plain, err = p.Build(t.Context()); err != nil {
			t.Fatal(err)
		}
		b, ok := wasm.Faster(plain)
		if !ok {
			t.Fatalf("%s has no function in the form of Go's compiler", name)
		}
		if faster, err = gameset.NewModuleGame(b, &wasm.Budget{}); err != nil {
			t.Fatal(err)
		}
		return plain, faster
	}
	minimal, g := build("minimal")
	if err := alike(g, minimal); err != nil {
		t.Error(err)
	}
	// The length of a step, fixed.One/4 as an i64.const, is longer by one in 1024.
	wrong := func(plain []byte) ([]byte, bool) {
		faster, ok := wasm.Faster(plain)
		return bytes.ReplaceAll(faster, []byte("\x42\x80\x80\x80\x80\x04"), []byte("\x42\x80\x80\xc0\x80\x04")), ok
	}
	kept, slow, err := fasterGame(minimal, wrong, func() *wasm.Budget { return &wasm.Budget{} })
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept.Module.Bytes, minimal) || !errors.Is(slow, console.ErrDiffers) {
		t.Errorf("got %v and a module of %d bytes, want the plain one of %d", slow, len(kept.Module.Bytes), len(minimal))
	}
	skirmish, other := build("skirmish") // without a usual configuration
	if err := alike(g, skirmish); err == nil {
		t.Error("got no error for the module of another game")
	}
	if err := alike(other, skirmish); !errors.As(err, new(*lockstep.ConfigError)) || !strings.Contains(err.Error(), "--usual") {
		t.Errorf("got %v, want a refused configuration", err)
	}
}

// The programs that pack writes are those that a release serves without the go command, see TestInspectorPage.
func TestPack(t *testing.T) {
	testenv.Long(t)
	_, err := exec.LookPath("go")
	testenv.Or(t, "the go command", err)
	game, err := gameset.New(minimal.Rules())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := packPrograms(t.Context(), gameset.List{game}, filepath.Join(folder, "wasm"), 1); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(folder, "wasm", "inspector.wasm.br"))
	if err != nil {
		t.Fatal(err)
	}
	var magic [4]byte
	if _, err := io.ReadFull(brotli.NewReader(bytes.NewReader(b)), magic[:]); err != nil || string(magic[:]) != "\x00asm" {
		t.Errorf("the program begins with %q, %v", magic, err)
	}
}

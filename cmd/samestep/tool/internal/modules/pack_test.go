//go:build !js

package modules

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/gameset"
	"github.com/seed-49bee653/samestep/examples/minimal"
	"github.com/seed-49bee653/samestep/internal/testing/testenv"
)

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

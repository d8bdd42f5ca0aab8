package line

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/replay"
)

// A number that overflows on a platform with 32 bits is named.
func TestPlatformBug(t *testing.T) {
	needsGo(t)
	if !whole || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SAMESTEP_LINES is not set, or this is not linux/amd64: builds the standard library for 386")
	}
	edits, _, _ := bug{name: "int", file: "step.go", old: "\tu.X = to\n", new: "\twide := int(to) * (1 << 30)\n\tu.X = int64(wide) / (1 << 30)\n"}.plant(t, "platforms")
	f, err := replay.Open(playedGame("platforms").record(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := f.Header()
	if err != nil {
		t.Fatal(err)
	}
	s := &search{file: f, game: "platforms", schema: h.StateSchema, folder: t.TempDir(), result: &Result{}}
	s.Source, s.Edits, s.Platform = filepath.Join("..", ".."), edits, "linux/386"
	if err := s.platforms(context.Background()); err != nil {
		t.Fatal(err)
	}
	if p := s.result.Finding; p == nil || !strings.HasPrefix(p.Place().Source, "wide := ") {
		t.Errorf("got %+v, want the line of wide", p)
	}
}

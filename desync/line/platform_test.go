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
	if every == 0 || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SAMESTEP_LINES is not set, or this is not linux/amd64: builds the standard library for 386")
	}
	edits, _, _ := bug{name: "int", file: "step.go", old: "\tu.X = to\n", new: "\twide := int(to) * (1 << 30)\n\tu.X = int64(wide) / (1 << 30)\n"}.plant(t, "platforms")
	f, err := replay.Open(playedGame("platforms").record(t, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := searchIn(t, f)
	s.dir, s.Edits, s.Platform = filepath.Join("..", ".."), edits, "linux/386"
	if err := s.platforms(context.Background()); err != nil {
		t.Fatal(err)
	}
	if p := s.result.Finding; p == nil || !strings.HasPrefix(p.Place().Source, "wide := ") {
		t.Errorf("got %+v, want the line of wide", p)
	}
}

//go:build !js

package tool

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// info reports two recordings of one match as equal up to a tick, even if one was cut, sealed or torn, and writes no
// file.
func TestInfoUpTo(t *testing.T) {
	const whole = "../../../testdata/replays/duel.ssr"
	dir := t.TempDir()
	cut, torn := filepath.Join(dir, "cut.ssr"), filepath.Join(dir, "torn.ssr")
	if code := tooltest.Run(t.Context(), []string{"samestep", "replay", "cut", "--tick", "150", whole, cut}, &bytes.Buffer{}, os.Stderr); code != console.ExitOK {
		t.Fatalf("cut: got exit code %d", code)
	}
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(torn, b[:len(b)-1], 0o666); err != nil {
		t.Fatal(err)
	}
	hash := func(file, tick string, want int) [2]string {
		var out bytes.Buffer
		if code := tooltest.Run(t.Context(), []string{"samestep", "replay", "info", "--json", "--upto", tick, file}, &out, &bytes.Buffer{}); code != want {
			t.Fatalf("%s: got exit code %d, want %d", file, code, want)
		}
		var info struct {
			Whole string `json:"content_hash"`
			UpTo  struct {
				Hash string `json:"content_hash"`
			} `json:"upto"`
		}
		if err := json.Unmarshal(out.Bytes(), &info); err != nil {
			t.Fatal(err)
		}
		return [2]string{info.Whole, info.UpTo.Hash}
	}
	a, b1, c, other := hash(whole, "150", console.ExitOK), hash(cut, "150", console.ExitOK), hash(torn, "150", console.ExitCorrupt), hash(whole, "149", console.ExitOK)
	if len(a[1]) != 64 || a[1] != b1[1] || a[1] != c[1] || a[1] == other[1] {
		t.Errorf("up to tick 150: got %s, cut %s, torn %s; up to tick 149 %s", a[1], b1[1], c[1], other[1])
	}
	if a[0] == b1[0] || a[0] == a[1] {
		t.Errorf("of the whole match: got %s, cut %s", a[0], b1[0])
	}
}

//go:build !js

package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
	"github.com/seed-49bee653/samestep/lockstep"
	"github.com/seed-49bee653/samestep/lockstep/coordinator"
	"github.com/seed-49bee653/samestep/lockstep/host"
	"github.com/seed-49bee653/samestep/replay"
)

// The replay in a server's bundle has no end record, since the match is still running. It is verified up to its end.
// Damage inside is an error, as in every replay.
func TestVerifyBundle(t *testing.T) {
	whole, err := os.ReadFile("../../../testdata/replays/roster.ssr")
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	for _, c := range []struct {
		name   string
		replay []byte
		code   int
		want   string
	}{
		{"whole", whole, console.ExitOK, "verdict    true: every checksum is that of the simulation"},
		{"torn", whole[:len(whole)-10], console.ExitOK, ", where the replay in the bundle ends; see desync explain for the desync"},
		{"damaged", damaged, console.ExitCorrupt, ", where the file becomes unreadable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "bundle.zip")
			f, err := os.Create(name)
			if err == nil {
				err = replay.WriteBundle(f, &lockstep.Header{}, &host.Evidence{Report: coordinator.DesyncReport{Tick: 140, Player: 1}}, bytes.NewReader(c.replay))
			}
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			t.Setenv("TMPDIR", t.TempDir())
			if got := tooltest.Output(t, c.code, "replay", "verify", name); !tooltest.Says(got, c.want) || !strings.HasPrefix(got, "bundle     of the desync of player 1 at tick 140: ") {
				t.Errorf("got\n%s\nwant %q", got, c.want)
			}
			info := tooltest.Output(t, c.code, "replay", "info", name)
			if many := tooltest.Output(t, c.code, "replay", "info", name, name); tooltest.Says(info, "none: the bundle was written before the end of the match") != (c.name == "torn") || c.code == console.ExitOK && !tooltest.Says(many, ": 2 ok") {
				t.Errorf("info: got\n%s\nof two:\n%s", info, many)
			}
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("%d files are left over, %v", len(left), err)
			}
		})
	}
}

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
	t.Parallel()
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
			t.Parallel()
			name := filepath.Join(t.TempDir(), "bundle.zip")
			f, err := os.Create(name)
			if err == nil {
				err = replay.WriteBundle(f, &lockstep.Header{}, &host.Evidence{Report: coordinator.DesyncReport{Tick: 140, Player: 1}}, bytes.NewReader(c.replay))
			}
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			temp := t.TempDir()
			output := func(args ...string) string {
				t.Helper()
				got, err := tooltest.Order{Args: append([]string{"samestep", "replay"}, args...), Dir: filepath.Dir(name), Env: append(os.Environ(), "TMPDIR="+temp)}.Run()
				if err != nil || got.Code != c.code {
					t.Errorf("%q: got exit code %d and %v, want %d: %s", args, got.Code, err, c.code, got.Stderr)
				}
				return got.Stdout
			}
			if got := output("verify", name); !tooltest.Says(got, c.want) || !strings.HasPrefix(got, "bundle     of the desync of player 1 at tick 140: ") {
				t.Errorf("got\n%s\nwant %q", got, c.want)
			}
			info := output("info", name)
			if many := output("info", name, name); tooltest.Says(info, "none: the bundle was written before the end of the match") != (c.name == "torn") || c.code == console.ExitOK && !tooltest.Says(many, ": 2 ok") {
				t.Errorf("info: got\n%s\nof two:\n%s", info, many)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("%d files are left over, %v", len(left), err)
			}
		})
	}
}

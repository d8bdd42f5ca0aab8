//go:build !js

package tool

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// Of a match with a period of 600 ms, the verbs print the time and the rate.
func TestPeriod(t *testing.T) {
	const file = "../../../testdata/conformance/replay/period.ssr" // one tick
	for want, args := range map[string][]string{
		"1 tick, 0.6 s":            {"info"},
		"tick 1  0.6 s  ":          {"watch", "--once"},
		`"tick_rate_hz":1.666667,`: {"export"},
	} {
		if got := tooltest.Output(t, console.ExitOK, append(append([]string{"replay"}, args...), file)...); !strings.Contains(got, want) {
			t.Errorf("%v: got %q, want %q", args, got, want)
		}
	}
	tooltest.Output(t, console.ExitOK, "replay", "export", "--to", "mcap", file, filepath.Join(t.TempDir(), "out.mcap"))
}

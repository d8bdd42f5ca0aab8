//go:build !js

package tool

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/serving"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// Variables set the flags of serve, and the command line is stronger.
func TestServeEnvironment(t *testing.T) {
	t.Setenv("SAMESTEP_GAME", "chess")
	for want, args := range map[string][]string{
		`unknown game "chess"`: {"samestep", "serve"},
		`unknown game "go"`:    {"samestep", "serve", "--game", "go"},
	} {
		var out bytes.Buffer
		if code := tooltest.Run(t.Context(), args, &out, &out); code != console.ExitUsage || !strings.Contains(out.String(), want) {
			t.Errorf("%q: got exit code %d and %s, want %s", args, code, &out, want)
		}
	}
	for _, f := range serving.ServeCommand().Flags {
		if !strings.Contains(f.String(), "$SAMESTEP_") && f.Names()[0] != "tokens" && f.Names()[0] != console.SetFlag.Name {
			t.Errorf("--%s has no variable", f.Names()[0])
		}
	}
}

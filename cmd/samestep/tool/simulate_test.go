//go:build !js

package tool

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// An interrupted run reports its findings so far and says that it is incomplete.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct{ args, stdout string }{
		{"simulate --seeds 9", "violations 0\n"},
		{"fuzz --matches 9", "verdict    unknown: no match was played\n"},
	} {
		var stdout, stderr strings.Builder
		code := tooltest.Run(ctx, append([]string{"samestep"}, strings.Fields(row.args)...), &stdout, &stderr)
		if code != console.ExitError || !strings.HasSuffix(stdout.String(), row.stdout) || stderr.String() != "samestep: interrupted after 0 seeds\n" {
			t.Errorf("%s: got code %d, %q and %q", row.args, code, stdout.String(), stderr.String())
		}
	}
}

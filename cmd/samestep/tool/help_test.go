//go:build !js

package tool

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-49bee653/samestep/cmd/samestep/tool/internal/console"
	"github.com/seed-49bee653/samestep/internal/testing/tooltest"
)

// --version works with and without a verb, and is no word of a file after --.
func TestVersionEverywhere(t *testing.T) {
	for _, line := range []string{"version", "--version", "serve --version", "replay verify x.ssr --version", "--version replay"} {
		var out, errs bytes.Buffer
		if code := tooltest.Run(t.Context(), append([]string{"samestep"}, strings.Fields(line)...), &out, &errs); code != console.ExitOK || !strings.HasPrefix(out.String(), "program    samestep ") {
			t.Errorf("%s: got exit code %d, %s%s", line, code, &out, &errs)
		}
	}
	var out bytes.Buffer
	if code := tooltest.Run(t.Context(), []string{"samestep", "replay", "info", "--", "--version"}, &out, &out); code != console.ExitError || !strings.Contains(out.String(), "--version") {
		t.Errorf("got exit code %d, %s", code, &out)
	}
}
